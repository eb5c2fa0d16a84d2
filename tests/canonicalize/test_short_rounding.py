"""TFLite's rule is marked as short where no accumulator needs more, and every result stays as it was."""

from typing import Any

import numpy as np
import pytest

from tests.canonicalize.small_modules import build, scalar
from tvm_pulp import qnn
from tvm_pulp.canonicalize.short_rounding import ShortRounding
from tvm_pulp.qnn.interpret import interpret
from tvm_pulp.qnn.requant import Requant

RULE = Requant("tflite", 0, 3, -128, 127)
BYTES = np.arange(-128, 128).astype(np.int8)


def product(mul: int, exponent: int, dtype: str = "int8", zero_point: int = 5) -> Any:
    """All pairs of bytes."""
    attributes = {**RULE.attributes(), "zero_point_a": zero_point, "zero_point_b": -128}
    inputs = {"a": ((256, 1), dtype), "b": ((1, 256), dtype)}
    return build(inputs, lambda emit, a, b: [emit("mul", [a, b, scalar(mul), scalar(exponent)], attributes)])


def is_marked(module: Any) -> bool:
    values = (b.value for block in module["main"].body.blocks for b in block.bindings)
    return not Requant.of([qnn.attributes(v) for v in values if qnn.is_qnn(v)][-1]).wide


@pytest.mark.parametrize(("mul", "exponent"), [(1 << 30, -6), (1518500250, -7), (2147483647, -1), (1073741825, -20)])
def test_products_of_bytes(mul: int, exponent: int) -> None:
    module = product(mul, exponent)
    done = ShortRounding().run(module)
    assert is_marked(done)
    inputs = [BYTES.reshape(256, 1), BYTES.reshape(1, 256)]
    np.testing.assert_array_equal(interpret(module, inputs)[0], interpret(done, inputs)[0])


@pytest.mark.parametrize(
    "module", [product(1 << 30, 1), product(1 << 30, -21), product(-(1 << 30), -6), product(1 << 30, -6, "int32")]
)
def test_what_is_not_short(module: Any) -> None:
    """A shift to the left, one too far, a factor below zero, 32-bit operands of which nothing is known."""
    assert not is_marked(ShortRounding().run(module))


@pytest.mark.parametrize(("left_shift", "expected"), [(7, True), (10, False)])
def test_the_square_of_a_difference(left_shift: int, expected: bool) -> None:
    """What is squared is a 32-bit number, whose range follows from the bytes it is the difference of."""
    scales = {"multipliers": [1 << 30, 1 << 30], "exponents": [0, -2], "left_shift": left_shift, "subtract": 1}
    plain = {"form": "tflite", "requant_a": "none", "requant_b": "none", "requant": "none"}
    difference = {**plain, **scales, "zero_point_a": 4, "zero_point_b": -3}
    squared = {**Requant("tflite", 0, -128, -128, 127).attributes(), "zero_point_a": 0, "zero_point_b": 0}

    def body(emit: Any, a: Any, b: Any) -> list[Any]:
        made = emit("add", [a, b], difference)
        return [emit("mul", [made, made, scalar(1518500250), scalar(-18)], squared)]

    module = build({"a": ((256, 1), "int8"), "b": ((1, 256), "int8")}, body)
    done = ShortRounding().run(module)
    assert is_marked(done) == expected
    inputs = [BYTES.reshape(256, 1), BYTES.reshape(1, 256)]
    np.testing.assert_array_equal(interpret(module, inputs)[0], interpret(done, inputs)[0])
