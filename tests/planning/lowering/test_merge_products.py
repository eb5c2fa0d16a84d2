"""Products of one row become one product, whose parts are read where they lie."""

from typing import Any

import numpy as np
import pytest
from tvm import relax

from tests.canonicalize.small_modules import build, operators
from tvm_pulp.planning.lowering.float_layers import FloatLayers
from tvm_pulp.planning.lowering.merge_products import MergeProducts
from tvm_pulp.qnn.interpret import interpret

RNG = np.random.default_rng(7)
WEIGHTS = [RNG.normal(size=(6, n)).astype(np.float32) for n in (8, 8, 4)]
BIAS = RNG.normal(size=8).astype(np.float32)


def gates(*, rows: int = 1, summed: bool = False) -> Any:
    """Three products of x, the second with a bias; of the sum of the columns of the last one if `summed`."""

    def body(_emit, x):  # type: ignore[no-untyped-def]
        first, second, third = (relax.op.matmul(x, relax.const(w)) for w in WEIGHTS)
        second = relax.op.add(second, relax.const(BIAS))
        third = relax.op.sum(third, axis=1) if summed else relax.op.tanh(third)
        return [relax.op.sigmoid(first), relax.op.tanh(second), third]

    return build({"x": ((rows, 6), "float32")}, body)


def merged(module: Any) -> Any:
    return MergeProducts().run(FloatLayers().run(module))


def test_one_row() -> None:
    done = merged(gates())
    assert operators(done).count("float_matmul") == 1
    x = RNG.normal(size=(1, 6)).astype(np.float32)
    products = [x @ w for w in WEIGHTS]
    expected = [1 / (1 + np.exp(-products[0])), np.tanh(products[1] + BIAS), np.tanh(products[2])]
    for made, wanted in zip(interpret(done, [x]), expected, strict=True):
        np.testing.assert_allclose(made, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("module", "left"), [(gates(rows=2), 3), (gates(summed=True), 2)])
def test_what_stays(module: Any, left: int) -> None:
    """Parts of several rows have gaps between them; what is no map wants a tensor of its own."""
    assert operators(merged(module)).count("float_matmul") == left
