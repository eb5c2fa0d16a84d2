"""Products of two activations through compiler, driver and model."""

import numpy as np
import pytest

from tests.uma_backends.ita import reference
from uma_backends.ita.reference import ItaRequantization

from .networks import engines, rule, run_on_ita

RULE = ItaRequantization(77, 14, 3)


@pytest.mark.parametrize("transposed", [True, False])
@pytest.mark.parametrize("shape", [(64, 64, 64), (128, 192, 64), (33, 16, 70), (100, 130, 20)])
def test_product(shape: tuple[int, int, int], transposed: bool) -> None:
    """Any sizes, with two leading indices of which one operand has but one."""
    rows, depth, columns = shape
    random = np.random.default_rng(rows)
    a = random.integers(-128, 128, (1, 2, rows, depth)).astype(np.int8)
    b = random.integers(-128, 128, (1, 1, depth, columns)).astype(np.int8)

    def define(emit, inputs):  # type: ignore[no-untyped-def]
        attributes, operands = rule(RULE.multiplier, RULE.shift, RULE.add)
        fixed = {"zero_point_a": 0, "zero_point_b": 0, "transpose_b": int(transposed)}
        return emit("matmul", [*inputs, *operands], {**fixed, **attributes})

    given = np.ascontiguousarray(b.swapaxes(-1, -2)) if transposed else b
    run = run_on_ita({"a": a, "b": given}, define)
    np.testing.assert_array_equal(run.outputs[0], reference.linear(a, b, 0, RULE))
    assert engines(run) == {"matmul": "ita"}
