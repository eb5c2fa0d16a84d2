"""Pass: convolutions of few channels with stride 2 become convolutions with stride 1 on blocks of 2 x 2 pixels.

The array has no stride: it would compute every position and drop three of four, on a quarter of its columns. With the
blocks as channels nothing is dropped, and the cores only lay the image out anew, which they do from planes as well:
a transpose before the convolution disappears. Expects canonical layers; guarantees the same values.

    transpose (NCHW to NHWC) -> conv2d 3x3, stride 2, 3 channels
    becomes   space_to_depth -> conv2d 3x3, stride 1, 12 channels
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, needed, require, spec_of
from tvm_pulp.qnn.conv2d import Conv2dAttributes
from tvm_pulp.qnn.pad import PadAttributes
from tvm_pulp.quick_records import changed
from uma_backends.conv_array.arithmetic.requantization import MAX_PADDING

_TO_NHWC = [0, 2, 3, 1]
_LOWEST = -128


@dataclass(frozen=True)
class Axis:
    """One direction of a strided convolution, in blocks: the first block a window touches, and padding."""

    first: int
    before: int
    after: int

    @staticmethod
    def of(size: int, kernel: int, before: int, after: int) -> "Axis | None":
        """None where a window touches more than three blocks, or the array could not pad."""
        touched, last = -before // 2, (kernel - 1 - before) // 2
        outputs = (size + before + after - kernel) // 2 + 1
        # Outputs of a 3-block window without stride: size / 2 + pads - 2. A window of two blocks may begin one earlier.
        axes = [Axis(f, -f, outputs - size // 2 + 2 + f) for f in (touched, touched - 1) if last - f < 3]
        fitting = [a for a in axes if 0 <= a.before <= MAX_PADDING and 0 <= a.after <= MAX_PADDING]
        return min(fitting, key=lambda a: max(a.before, a.after), default=None) if size % 2 == 0 else None


class SpaceToDepth(Rewriter):
    """`channels`: most input channels that the array takes at once in 3x3."""

    def __init__(self, channels: int) -> None:
        self._channels = channels

    def visit(self, variable: Any, value: Any) -> Any:
        require(qnn.is_qnn(value, "conv2d"))
        attributes, weights = qnn.attributes(value, Conv2dAttributes), needed(constant(value.args[1]))
        require(self._gains(attributes, spec_of(value.args[0]), weights.shape))
        source, pads = self._without_pad(value.args[0], attributes)
        x = spec_of(source)
        unsigned = x.dtype == "int8" and attributes.zero_point == _LOWEST
        rows, columns = (needed(Axis.of(x.shape[a], weights.shape[a], pads[a - 1], pads[a + 1])) for a in (1, 2))
        require(unsigned or attributes.zero_point == 0)
        inner, layout = self.single(source, "transpose"), "NHWC"
        if inner is not None and qnn.attributes(inner)["axes"] == _TO_NHWC:
            source, layout = inner.args[0], "NCHW"
        blocks = qnn.emit("space_to_depth", [source], {"layout": layout, "unsigned": int(unsigned)})
        sides = (rows.before, columns.before, rows.after, columns.after)
        work = int(np.prod(weights.shape[1:]))
        attributes = changed(attributes, strides=(1, 1), zero_point=0, macs_per_output=work, pads=sides)
        offsets = (pads[0] + 2 * rows.first, pads[1] + 2 * columns.first)
        laid_out = self.emit(blocks, f"{variable.name}_blocks")
        return qnn.emit("conv2d", [laid_out, spread(weights, offsets, layout), *value.args[2:]], attributes)

    def _without_pad(self, source: Any, attributes: Conv2dAttributes) -> tuple[Any, list[int]]:
        """The value that an explicit padding with the zero point pads, and the padding of both."""
        inner, pads = self.single(source, "pad"), list(attributes.pads)
        if inner is None:
            return source, pads
        border = qnn.attributes(inner, PadAttributes)
        sides = [side[axis] for side in (border.before, border.after) for axis in (0, 3)]
        if border.value != attributes.zero_point or any(sides):
            return source, pads
        more = [*border.before[1:3], *border.after[1:3]]
        return inner.args[0], [a + b for a, b in zip(pads, more, strict=True)]

    def _gains(self, attributes: Conv2dAttributes, x: qnn.TensorSpec, filters: tuple[int, ...]) -> bool:
        """Stride 2, more than one tap, all blocks' channels in one subtile."""
        if attributes.strides != (2, 2) or attributes.dilation != (1, 1) or attributes.groups != 1:
            return False
        narrow = 4 * x.shape[3] <= self._channels and x.dtype in ("int8", "uint8")
        return narrow and tuple(filters[1:3]) != (1, 1)


def spread(weights: np.ndarray, offsets: tuple[int, int], layout: str) -> np.ndarray:
    """Filters [outputs, rows, columns, channels] of stride 2 as 3x3 filters on blocks.

    `offsets` is by how much the first tap lies before the first pixel of the first block.
    """
    outputs, rows, columns, channels = weights.shape
    blocks = np.zeros((outputs, 3, 3, 2, 2, channels), weights.dtype)
    for row in range(rows):
        for column in range(columns):
            (dy, y), (dx, x) = divmod(row - offsets[0], 2), divmod(column - offsets[1], 2)
            blocks[:, dy, dx, y, x] = weights[:, row, column]
    if layout == "NCHW":
        blocks = blocks.transpose(0, 1, 2, 5, 3, 4)
    return np.ascontiguousarray(blocks).reshape(outputs, 3, 3, 4 * channels)
