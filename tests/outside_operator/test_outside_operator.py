"""An operator with a kernel comes from outside the tree, by public registration, and gives its reference's bits.

Four files say all there is to say: the operator, its schedule, a header and a source of C. `docs/add_an_operator.md`
explains them.
"""

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from tvm import relax

import tvm_pulp
from schedules.cluster.base import SCHEDULES
from schedules.kernel_cycles import WORKS
from schedules.kernel_cycles.coefficients import COEFFICIENTS
from tvm_pulp import qnn
from tvm_pulp.frontend.imported import Imported
from tvm_pulp.qnn import OPERATORS
from tvm_pulp.soc import kernel_sources

NAME, SHAPE, SLOPE = "leaky8", (3, 37, 61), 23
PULP = qnn.Requant("pulp", 7, 0, -128, 127, True).attributes()


@pytest.fixture(scope="module")
def network() -> Iterator[Imported]:
    """Registered as a user does it, by importing; afterwards other tests find the dialect as it was."""
    import_module("tests.outside_operator.leaky8")
    import_module("tests.outside_operator.leaky8_schedule")
    yield _network()
    for known in (OPERATORS, SCHEDULES, WORKS, *COEFFICIENTS.values()):
        known.pop(NAME, None)
    kernel_sources._ADDED.clear()


def _network() -> Imported:
    """A requantization, the operator, and one of the dialect's own behind it."""
    x = relax.Var("x", relax.TensorType(SHAPE, "int8"))
    mul, add = (relax.const(np.array([v], np.int32)) for v in (201, 64))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        with builder.dataflow():
            scaled = builder.emit(qnn.emit("requantize", [x, mul, add], {"axis": 2, "zero_point": 0, **PULP}))
            leaky = builder.emit(qnn.emit(NAME, [scaled], {"slope": SLOPE}))
            moved = builder.emit(qnn.emit("transpose", [leaky], {"axes": [2, 0, 1]}))
            output = builder.emit_output(relax.Tuple([moved]))
        builder.emit_func_output(output)
    return Imported(builder.get(), ("x",), ("y",), "pulp")


def expected(x: np.ndarray) -> np.ndarray:
    scaled = np.clip((x.astype(np.int64) * 201 + 64) >> 7, -128, 127)
    return np.where(scaled >= 0, scaled, (scaled * SLOPE + 64) >> 7).astype(np.int8).transpose(2, 0, 1)


@pytest.mark.parametrize("options", [{}, {"soc": "siracusa"}, {"soc": "rv32-mcu"}], ids=["host", "cluster", "one core"])
def test_an_operator_from_outside_is_exact(network: Imported, options: dict[str, Any]) -> None:
    app = tvm_pulp.compile(network, target="c", **options)
    x = np.random.default_rng(1).integers(-128, 128, SHAPE, endpoint=False).astype(np.int8)
    result = app.run({"x": x})
    np.testing.assert_array_equal(result.outputs["y"], expected(x))
    called = f"tvm_pulp_kernel_{NAME}" in "".join(t.decode() for p, t in app.files.items() if p.endswith("_run.c"))
    # Where nothing is simulated, generated C runs every layer.
    assert called == bool(options)
