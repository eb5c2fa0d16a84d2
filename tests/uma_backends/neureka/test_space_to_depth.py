"""Strided stems become convolutions on blocks of pixels where that is possible; values stay."""

from typing import Any

import numpy as np
import pytest

from tests.canonicalize.small_modules import build, operators
from tvm_pulp import qnn
from tvm_pulp.qnn.interpret import interpret
from uma_backends.conv_array.passes.space_to_depth import SpaceToDepthRewriter

RULE = qnn.Requant("tflite", 0, 3, -128, 127)


def stem(
    channels: int, kernel: tuple[int, int], pads: list[int], zero_point: int = 0, strides: tuple[int, int] = (2, 2)
) -> Any:
    """A convolution of an image to five channels."""
    source = np.random.default_rng(4)
    weights = source.integers(-127, 128, (5, *kernel, channels)).astype(np.int8)
    bias = source.integers(-3000, 3000, (5,)).astype(np.int32)
    mul, exponent = np.full(5, 1518500250, np.int32), np.full(5, -9, np.int32)
    attributes = {
        "strides": list(strides), "dilation": [1, 1], "pads": pads, "groups": 1, "layout": "NHWC", "has_bias": 1,
        "zero_point": zero_point, **RULE.attributes(),
    }  # fmt: skip
    return lambda emit, x: emit("conv2d", [x, weights, bias, mul, exponent], attributes)


def check(shape: tuple[int, ...], dtype: str, body: Any, expected: list[str]) -> None:
    module = build({"x": (shape, dtype)}, lambda emit, x: [body(emit, x)])
    done = SpaceToDepthRewriter(28).run(module)
    assert operators(done) == expected
    low, high = (-128, 128) if dtype == "int8" else (0, 256)
    x = np.random.default_rng(9).integers(low, high, shape).astype(dtype)
    before, after = interpret(module, [x])[0], interpret(done, [x])[0]
    np.testing.assert_array_equal(after, before)
    assert np.unique(before).size > 10


@pytest.mark.parametrize(
    ("kernel", "pads"),
    [
        ((3, 3), [0, 0, 0, 0]),
        ((3, 3), [0, 0, 1, 1]),
        ((3, 3), [1, 1, 1, 1]),
        ((3, 3), [1, 1, 0, 0]),
        ((5, 5), [2, 2, 2, 2]),
        ((2, 2), [0] * 4),
    ],
)
@pytest.mark.parametrize(("dtype", "zero_point"), [("uint8", 0), ("int8", 0), ("int8", -128)])
def test_stems_without_stride(kernel: tuple[int, int], pads: list[int], dtype: str, zero_point: int) -> None:
    check((1, 8, 6, 3), dtype, stem(3, kernel, pads, zero_point), ["space_to_depth", "conv2d"])


def test_wide_padding_is_part_of_it() -> None:
    """Padding as wide as the kernel is an operator of its own before the convolution."""
    layer = stem(3, (3, 3), [0, 0, 0, 0])

    def body(emit: Any, x: Any) -> Any:
        return layer(emit, emit("pad", [x], {"before": [0, 3, 3, 0], "after": [0, 3, 3, 0], "value": 0}))

    check((1, 8, 6, 3), "uint8", body, ["space_to_depth", "conv2d"])


def test_planes_need_no_transpose() -> None:
    layer = stem(3, (3, 3), [0, 0, 1, 1])

    def body(emit: Any, x: Any) -> Any:
        return layer(emit, emit("transpose", [x], {"axes": [0, 2, 3, 1]}))

    check((1, 3, 8, 6), "uint8", body, ["space_to_depth", "conv2d"])


@pytest.mark.parametrize(
    ("channels", "arguments"),
    [
        (3, {"kernel": (3, 3), "pads": [1, 1, 1, 1], "zero_point": 5}),  # padding would be no zero
        (3, {"kernel": (7, 7), "pads": [3, 3, 3, 3]}),  # reaches beyond the neighbouring blocks
        (8, {"kernel": (3, 3), "pads": [1, 1, 1, 1]}),  # more channels than one subtile
        (3, {"kernel": (1, 1), "pads": [0, 0, 0, 0]}),  # the array strides over 1x1 by itself
        (3, {"kernel": (3, 3), "pads": [1, 1, 1, 1], "strides": (1, 1)}),
    ],
)
def test_what_would_not_gain_stays(channels: int, arguments: dict[str, Any]) -> None:
    check((1, 12, 10, channels), "int8", stem(channels, **arguments), ["conv2d"])
