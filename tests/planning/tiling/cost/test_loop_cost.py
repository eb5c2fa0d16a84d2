"""What generated loops are expected to execute: conditions that loops decide are counted, not guessed."""

import numpy as np
import pytest

from tests.planning.tiling.single_layers import PULP, make_layer
from tvm_pulp.planning.tiling.cost.loop_cost import count_layer_operations
from tvm_pulp.qnn.tensor_spec import TensorSpec


def loads(size: int, kernel: int, dilation: int, stride: int, channels: int = 4) -> tuple[float, int]:
    """Expected loads of a depthwise layer, and those of taps inside the image."""
    pad = dilation * (kernel - 1) // 2
    attributes = {"strides": [stride] * 2, "dilation": [dilation] * 2, "pads": [pad] * 4, "groups": channels}
    attributes |= {"has_bias": False, "layout": "NHWC", "zero_point": 0, "sum_bits": 32, "macs_per_output": kernel**2}
    constants = (np.ones((channels,), np.int32), np.ones((channels,), np.int32))
    weight = np.ones((channels, kernel, kernel, 1), np.int8)
    layer = make_layer(
        "conv2d", {**attributes, **PULP}, TensorSpec((1, size, size, channels), "int8"), weight, *constants
    )
    outputs = layer.outputs[0].spec.shape[1]
    places = np.arange(outputs)[:, None] * stride + np.arange(kernel) * dilation - pad
    inside = int(((places >= 0) & (places < size)).sum()) ** 2
    # A value and a weight for each tap, factor and summand of each output.
    return count_layer_operations(layer).executed["load"], channels * (2 * inside + 2 * outputs**2)


@pytest.mark.parametrize("layer", [(10, 3, 2, 1), (8, 3, 4, 1), (2, 5, 1, 1), (9, 5, 1, 2), (12, 3, 1, 1)])
def test_taps_outside_the_image_are_not_counted(layer: tuple[int, int, int, int]) -> None:
    expected, executed = loads(*layer)
    assert expected == pytest.approx(executed)


def test_of_large_images_some_pixels_are_looked_at() -> None:
    expected, executed = loads(300, 5, 1, 1)
    assert expected == pytest.approx(executed, rel=0.01)
