"""Convolutions of few channels on several pixels at once: where cycles are saved, and with the same values."""

from typing import Any

import numpy as np
import pytest

from tests.canonicalize.small_modules import build
from tvm_pulp import qnn
from tvm_pulp.qnn.interpret import interpret
from tvm_pulp.qnn.operator import spec_of
from uma_backends.conv_array.passes.neighbouring_pixels import NeighbouringPixels, best_count
from uma_backends.neureka.backend import pixel_costs
from uma_backends.neureka.geometry import Mode

RULE = qnn.Requant("tflite", 0, 3, -128, 127)


def layer(
    channels: int, outputs: int, kernel: int, pads: list[int], zero_point: int = -5, per_channel: bool = True
) -> Any:
    source = np.random.default_rng(4)
    weights = source.integers(-127, 128, (outputs, kernel, kernel, channels)).astype(np.int8)
    bias = source.integers(-3000, 3000, (outputs,)).astype(np.int32)
    constants = outputs if per_channel else 1
    mul = source.integers(1 << 30, (1 << 31) - 1, (constants,)).astype(np.int32)
    attributes = {
        "strides": [1, 1], "dilation": [1, 1], "pads": pads, "groups": 1, "layout": "NHWC", "has_bias": 1,
        "zero_point": zero_point, **RULE.attributes(),
    }  # fmt: skip
    operands = [weights, bias, mul, np.full(constants, -8, np.int32)]
    return lambda emit, x: [emit("conv2d", [x, *operands], attributes)]


def run(shape: tuple[int, ...], body: Any) -> list[tuple[int, ...]]:
    """Shapes of the weights after the pass; results must be what they were."""
    module = build({"x": (shape, "int8")}, body)
    done = NeighbouringPixels(pixel_costs()).run(module)
    x = np.random.default_rng(9).integers(-128, 128, shape).astype(np.int8)
    before, after = interpret(module, [x])[0], interpret(done, [x])[0]
    np.testing.assert_array_equal(after, before)
    assert np.unique(before).size > 20
    values = [b.value for block in done["main"].body.blocks for b in block.bindings]
    return [spec_of(v.args[1]).shape for v in values if qnn.is_qnn(v, "conv2d")]


@pytest.mark.parametrize("per_channel", [True, False])
def test_two_pixels_fill_the_outputs_of_a_step(per_channel: bool) -> None:
    body = layer(8, 16, 1, [0, 0, 0, 0], per_channel=per_channel)
    assert run((1, 24, 24, 8), body) == [(32, 1, 1, 16)]


@pytest.mark.parametrize("pads", [[1, 1, 1, 1], [0, 1, 2, 1]])
def test_two_pixels_share_a_window(pads: list[int]) -> None:
    assert run((1, 24, 24, 12), layer(12, 8, 3, pads)) == [(16, 3, 3, 24)]


@pytest.mark.parametrize(
    ("shape", "arguments"),
    [
        ((1, 24, 24, 32), (32, 16, 1, [0, 0, 0, 0])),  # a full step already
        ((1, 24, 23, 8), (8, 16, 1, [0, 0, 0, 0])),  # an odd number of pixels in a line
        ((1, 24, 24, 12), (12, 8, 3, [1, 0, 1, 0])),  # lines become shorter
        ((1, 6, 6, 12), (12, 32, 3, [1, 1, 1, 1])),  # nothing to gain: one subtile anyway
    ],
)
def test_what_would_not_gain_stays(shape: tuple[int, ...], arguments: tuple[Any, ...]) -> None:
    channels, outputs, kernel, _ = arguments
    assert run(shape, layer(*arguments)) == [(outputs, kernel, kernel, channels)]


def test_the_count_divides_the_line() -> None:
    assert all(width % best_count(Mode.POINTWISE, (48, width), 4, 8, pixel_costs()) == 0 for width in range(1, 60))
