"""Which input a window operator needs for a part of its output: halo, borders, the padding that remains."""

from collections.abc import Sequence
from typing import Any

from tvm_pulp.qnn.conv2d import Conv2dAttributes
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.tiles import window_spans
from tvm_pulp.qnn.window_attributes import windows
from tvm_pulp.window import InputSpan, Window

__all__ = ["InputSpan", "Window", "unfolding", "window_spans", "windows"]


def unfolding(layer: Layer, pads: Sequence[int]) -> dict[str, Any]:
    """Attributes of `im2col` for a part of a convolution for which so much padding remains."""
    a, (_, height, width, _) = Conv2dAttributes.of(layer), layer.inputs[1].spec.shape
    return {
        "kernel": [height, width],
        "strides": a.strides,
        "dilation": a.dilation,
        "pads": list(pads),
        "zero_point": a.zero_point,
    }
