"""Which input a window operator needs for a part of its output: halo, borders, the padding that remains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tvm_pulp.qnn.network import Layer


@dataclass(frozen=True)
class InputSpan:
    """Input positions [start, start + size) of one axis, and the padding left before and after them."""

    start: int
    size: int
    before: int
    after: int


def input_span(
    out_start: int, out_size: int, extent: int, kernel: int, stride: int, dilation: int, pad: int
) -> InputSpan:
    """Input of output positions [out_start, out_start + out_size) along one axis."""
    first = out_start * stride - pad
    last = (out_start + out_size - 1) * stride - pad + (kernel - 1) * dilation
    # A part that lies in the padding altogether still needs one position: a tensor cannot be empty.
    start = min(max(first, 0), extent - 1)
    end = max(min(last + 1, extent), start + 1)
    return InputSpan(start, end - start, start - first if first < start else 0, max(0, last + 1 - end))


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
