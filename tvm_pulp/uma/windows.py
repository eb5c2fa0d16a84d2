"""Which input a window operator needs for a part of its output: halo, borders, the padding that remains."""

from typing import Any

from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.tiles import InputSpan, input_span

__all__ = ["InputSpan", "input_span", "unfolding"]


def unfolding(layer: Layer, rows: InputSpan, columns: InputSpan) -> dict[str, Any]:
    """Attributes of `im2col` for the part of a convolution that reads these rows and columns."""
    a, (_, height, width, _) = layer.attributes, layer.inputs[1].spec.shape
    return {
        "kernel": [height, width],
        "strides": a["strides"],
        "dilation": a["dilation"],
        "pads": [rows.before, columns.before, rows.after, columns.after],
        "zero_point": a["zero_point"],
    }
