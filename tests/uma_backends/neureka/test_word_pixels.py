"""Pictures of three channels become pixels of a word before windows of few columns; values stay."""

from typing import Any

import numpy as np
import pytest
from tvm import relax

from tests.canonicalize.small_modules import build, operators
from tvm_pulp import qnn
from tvm_pulp.qnn.interpret import interpret
from uma_backends.conv_array.passes.word_pixels import WordPixels

RULE = qnn.Requant("tflite", 0, 3, -128, 127)


def stem(kernel: tuple[int, int], strides: list[int], channels: int = 3, axes: tuple[int, ...] = (0, 2, 3, 1)) -> Any:
    """A picture of floats, quantized, its channels moved, and a convolution of it to five channels."""
    source = np.random.default_rng(4)
    weights = source.integers(-127, 128, (5, *kernel, channels)).astype(np.int8)
    bias = source.integers(-3000, 3000, (5,)).astype(np.int32)
    mul, exponent = np.full(5, 1518500250, np.int32), np.full(5, -9, np.int32)
    attributes = {
        "strides": strides, "dilation": [1, 1], "pads": [1, 1, 1, 1], "groups": 1, "layout": "NHWC", "has_bias": 1,
        "zero_point": 3, **RULE.attributes(),
    }  # fmt: skip
    scale, zero = relax.const(np.float32(0.04)), relax.const(np.int8(3))

    def body(emit: Any, x: Any) -> list[Any]:
        quantized = relax.BlockBuilder.current().emit(relax.op.quantize(x, scale, zero, axis=1, out_dtype="int8"))
        moved = emit("transpose", [quantized], {"axes": list(axes)})
        return [emit("conv2d", [moved, weights, bias, mul, exponent], attributes)]

    return body


def check(shape: tuple[int, ...], body: Any, *, is_widened: bool) -> None:
    module = build({"x": (shape, "float32")}, body)
    done = WordPixels().run(module)
    assert ("quantize_channels_last" in operators(done)) == is_widened
    x = np.random.default_rng(9).normal(size=shape).astype(np.float32)
    before, after = interpret(module, [x])[0], interpret(done, [x])[0]
    np.testing.assert_array_equal(after, before)
    assert np.unique(before).size > 10


@pytest.mark.parametrize(
    ("kernel", "strides"), [((3, 3), [2, 2]), ((5, 3), [1, 1]), ((4, 4), [2, 1]), ((2, 2), [2, 2])]
)
def test_windows_of_few_columns(kernel: tuple[int, int], strides: list[int]) -> None:
    check((1, 3, 9, 10), stem(kernel, strides), is_widened=True)


@pytest.mark.parametrize(("kernel", "strides"), [((3, 3), [1, 1]), ((5, 5), [2, 2]), ((3, 1), [2, 2])])
def test_others_stay(kernel: tuple[int, int], strides: list[int]) -> None:
    """What the array computes directly, and rows that are copied by sixteen bytes or are one pixel."""
    check((1, 3, 9, 10), stem(kernel, strides), is_widened=False)


def test_other_pictures_stay() -> None:
    check((1, 2, 9, 10), stem((3, 3), [2, 2], channels=2), is_widened=False)
    check((2, 3, 9, 10), stem((3, 3), [2, 2]), is_widened=False)
    check((1, 10, 3, 9), stem((3, 3), [2, 2], axes=(0, 1, 3, 2), channels=3), is_widened=False)
