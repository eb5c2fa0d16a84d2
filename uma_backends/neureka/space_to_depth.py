"""Pass: convolutions of few channels with stride 2 become convolutions with stride 1 on blocks of 2 x 2 pixels.

The array has no stride: it would compute every position and drop three of four, on a quarter of its columns. With the
blocks as channels nothing is dropped, and the cores only lay the image out anew, which they do from planes as well:
a transpose before the convolution disappears. Expects canonical layers; guarantees the same values.

    transpose (NCHW to NHWC) -> conv2d 3x3, stride 2, 3 channels
    becomes   space_to_depth -> conv2d 3x3, stride 1, 12 channels
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant
from tvm_pulp.qnn.operator import spec_of
from uma_backends.neureka.geometry import SIRACUSA

_TO_NHWC = [0, 2, 3, 1]
_LOWEST = -128


class SpaceToDepth(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        if not qnn.is_qnn(value, "conv2d"):
            return value
        attributes, weights = qnn.attributes(value), constant(value.args[1])
        if weights is None or not _gains(attributes, spec_of(value.args[0]), weights.shape):
            return value
        unsigned = spec_of(value.args[0]).dtype == "int8" and attributes["zero_point"] == _LOWEST
        zero_point = 0 if unsigned else attributes["zero_point"]
        if zero_point != 0:
            return value
        source, layout = value.args[0], "NHWC"
        inner = self.definition(source)
        if qnn.is_qnn(inner, "transpose") and qnn.attributes(inner)["axes"] == _TO_NHWC and self.uses(source) == 1:
            source, layout = inner.args[0], "NCHW"
        blocks = qnn.emit("space_to_depth", [source], {"layout": layout, "unsigned": int(unsigned)})
        attributes |= {"strides": [1, 1], "zero_point": 0, "macs_per_output": int(np.prod(weights.shape[1:]))}
        top, left, *_ = attributes["pads"]
        attributes["pads"] = [1, 1, 1, 1]
        filters = relax.const(spread(weights, top, left, layout))
        x = self.emit(blocks, f"{variable.name}_blocks")
        return qnn.emit("conv2d", [x, filters, *value.args[2:]], attributes)


def _gains(attributes: dict[str, Any], x: qnn.TensorSpec, filters: tuple[int, ...]) -> bool:
    """Stride 2, all blocks' channels in one subtile, taps within one block of the centre, as many outputs as blocks."""
    _, height, width, channels = x.shape
    (top, left, bottom, right), (kernel_height, kernel_width) = attributes["pads"], filters[1:3]
    if attributes["strides"] != [2, 2] or attributes["dilation"] != [1, 1] or attributes["groups"] != 1:
        return False
    if (
        4 * channels > SIRACUSA.channels_3x3
        or x.dtype not in ("int8", "uint8")
        or (kernel_height, kernel_width) == (1, 1)
    ):
        return False
    return all(
        size % 2 == 0
        and before <= 2
        and kernel - before <= 4
        and (size + before + after - kernel) // 2 + 1 == size // 2
        for size, kernel, before, after in ((height, kernel_height, top, bottom), (width, kernel_width, left, right))
    )


def spread(weights: np.ndarray, top: int, left: int, layout: str) -> np.ndarray:
    """Filters [outputs, rows, columns, channels] of stride 2 as 3x3 filters on blocks."""
    outputs, rows, columns, channels = weights.shape
    blocks = np.zeros((outputs, 3, 3, 2, 2, channels), weights.dtype)
    for row in range(rows):
        for column in range(columns):
            (dy, y), (dx, x) = divmod(row - top, 2), divmod(column - left, 2)
            blocks[:, dy + 1, dx + 1, y, x] = weights[:, row, column]
    if layout == "NCHW":
        blocks = blocks.transpose(0, 1, 2, 5, 3, 4)
    return np.ascontiguousarray(blocks).reshape(outputs, 3, 3, 4 * channels)
