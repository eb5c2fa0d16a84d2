"""Products with constant weights, alone and with activations, through compiler, driver and model."""

from pathlib import Path

import numpy as np
import pytest

from tvm_pulp.uma.conformance import Conformance
from tvm_pulp.uma.conformance.random_layer import PER_TENSOR
from uma_backends.ita import ItaBackend
from uma_backends.ita.reference import ItaGelu, ItaRequantization, Relu

from . import reference
from .networks import engines, rule, run_on_ita

BYTES = np.arange(-128, 128)
GELU = ItaGelu(-80, -7091, ItaRequantization(74, 20))


def test_backend_conforms() -> None:
    Conformance(ItaBackend(), kinds=("dense",), requantizations=PER_TENSOR, types=("int8",), layers=10).check()


@pytest.mark.slow
def test_backend_conforms_for_all_requantizations() -> None:
    """Per channel, of 31 bits, rounded as frameworks do: what the engine's own has not comes digit by digit."""
    Conformance(ItaBackend(), kinds=("dense",), types=("int8",), layers=12).check()


@pytest.mark.slow
def test_backend_conforms_on_another_cluster() -> None:
    """Engines are data: the same one beside other cores, memories and DMA."""
    other = str(Path(__file__).with_name("siracusa-ita.yaml"))
    per_tensor = {"requantizations": PER_TENSOR, "types": ("int8",)}
    Conformance(ItaBackend(), soc=other, kinds=("dense",), layers=6, **per_tensor).check()  # type: ignore[arg-type]


@pytest.mark.sample(6)
@pytest.mark.parametrize("shape", [(64, 64, 64), (70, 100, 130), (1, 20, 7), (128, 512, 64)])
@pytest.mark.parametrize("kind", ["relu", "gelu", "negated"])
def test_activation(shape: tuple[int, int, int], kind: str) -> None:
    """The table behind a product runs on the engine; GELU with its sign changed and the weights behind it too."""
    rows, depth, columns = shape
    random = np.random.default_rng(rows)
    x = random.integers(-128, 128, (rows, depth)).astype(np.int8)
    w1 = random.integers(-127, 128, (columns, depth)).astype(np.int8)
    w2 = random.integers(-127, 128, (16, columns)).astype(np.int8)
    bias = random.integers(-1000, 1000, columns).astype(np.int32)
    unit = Relu(ItaRequantization(37, 5, 3)) if kind == "relu" else GELU
    table = unit.apply(BYTES).astype(np.int8)
    table = -table if kind == "negated" else table
    first, second = ItaRequantization(200, 8 + int(np.log2(depth) / 2 + 6), 0), ItaRequantization(150, 15, -4)

    def define(emit, inputs):  # type: ignore[no-untyped-def]
        dense = {"zero_point": 0, "has_bias": 1}
        attributes, operands = rule(first.multiplier, first.shift)
        y = emit("dense", [inputs[0], w1, bias, *operands], {**dense, **attributes})
        y = emit("lookup", [y, table])
        attributes, operands = rule(second.multiplier, second.shift, second.add)
        return emit("dense", [y, w2, *operands], {**dense, "has_bias": 0, **attributes})

    run = run_on_ita({"x": x}, define)
    inner = table[reference.linear(x, w1.T, bias, first).astype(np.int64) + 128]
    np.testing.assert_array_equal(run.outputs[0], reference.linear(inner, w2.T, 0, second))
    assert engines(run) == {"dense+lookup": "ita", "dense": "ita"}
