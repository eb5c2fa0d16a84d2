"""Products whose result is transposed head by head, and values of attention that come so."""

from typing import Any

import numpy as np
import pytest

from tests.uma_backends.ita import reference
from uma_backends.ita.reference import ItaRequantization

from .networks import engines, rule, run_on_ita

VALUE = ItaRequantization(80, 14, 5)
TURN = {"axes": [0, 2, 3, 1]}


@pytest.mark.parametrize(("positions", "width", "heads", "size"), [(70, 90, 2, 40), (64, 64, 3, 64), (130, 20, 1, 100)])
def test_heads_are_written_transposed(positions: int, width: int, heads: int, size: int) -> None:
    random = np.random.default_rng(positions)
    x = random.integers(-128, 128, (1, positions, width)).astype(np.int8)
    weight = random.integers(-128, 128, (heads * size, width)).astype(np.int8)
    bias = random.integers(-3000, 3000, heads * size).astype(np.int32)

    def define(emit: Any, inputs: list[Any]) -> Any:
        attributes, operands = rule(VALUE.multiplier, VALUE.shift, VALUE.add)
        made = emit("dense", [inputs[0], weight, bias, *operands], {"zero_point": 0, "has_bias": 1, **attributes})
        return emit("transpose", [emit("reshape", [made, (1, positions, heads, size)])], TURN)

    run = run_on_ita({"x": x}, define)
    expected = reference.linear(x, weight.T, bias, VALUE).reshape(1, positions, heads, size).transpose(0, 2, 3, 1)
    np.testing.assert_array_equal(run.outputs[0], expected)
    assert engines(run) == {"dense+transpose": "ita"}
