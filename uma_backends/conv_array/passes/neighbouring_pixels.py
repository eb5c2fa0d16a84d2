"""Pass: convolutions of few channels work on several neighbouring pixels at once.

The array takes so many input channels a step to so many outputs, whether there are as many or not. Pixels that lie next
to each other in memory are one pixel with all their channels, and each of them gets its own outputs. Nothing is moved:
the tensors before and after are only seen differently. Expects canonical layers; guarantees the same values.

    conv2d 1x1 [h, w, 8] -> [h, w, 16]
    becomes   reshape -> conv2d 1x1 [h, w / 2, 16] -> [h, w / 2, 32] -> reshape
"""

from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, needed, require, spec_of
from tvm_pulp.qnn.conv2d import Conv2dAttributes
from tvm_pulp.quick_records import changed
from uma_backends.conv_array.modes import Mode, ModeCosts


class NeighbouringPixels(Rewriter):
    def __init__(self, costs: ModeCosts) -> None:
        self._costs = costs

    def visit(self, variable: Any, value: Any) -> Any:
        require(qnn.is_qnn(value, "conv2d"))
        attributes = qnn.attributes(value, Conv2dAttributes)
        weights, *others = (needed(constant(a)) for a in value.args[1:])
        mode = needed(_mode(attributes, weights.shape))
        outputs, channels = weights.shape[0], weights.shape[3]
        batch, height, width, _ = spec_of(value.args[0]).shape
        result = spec_of(variable).shape
        count = best_count(mode, (result[1], width), channels, outputs, self._costs)
        require(count > 1)
        # Constants of the whole layer have one element; the others one for each output.
        repeated = [np.tile(c, count) if c.size == outputs > 1 else c for c in others]
        seen = self.emit(relax.op.reshape(value.args[0], (batch, height, width // count, count * channels)))
        if attributes.macs_per_output is None:
            attributes = changed(attributes, macs_per_output=int(np.prod(weights.shape[1:])))
        operands = [seen, block_filters(weights, count), *repeated]
        layer = self.emit(qnn.emit("conv2d", operands, attributes), variable.name)
        return relax.op.reshape(layer, result)


def _mode(attributes: Conv2dAttributes, filters: tuple[int, ...]) -> Mode | None:
    """How the array would run it: 1x1, or 3x3 with as many columns after as before."""
    if attributes.strides != (1, 1) or attributes.dilation != (1, 1) or attributes.groups != 1:
        return None
    _, left, _, right = attributes.pads
    if filters[1:3] == (1, 1) and not any(attributes.pads):
        return Mode.POINTWISE
    return Mode.DENSE_3X3 if filters[1:3] == (3, 3) and left == right == 1 else None


def best_count(mode: Mode, size: tuple[int, int], channels: int, outputs: int, costs: ModeCosts) -> int:
    """How many pixels at once take the fewest cycles; one where nothing is gained."""
    counts = [n for n in range(1, costs.channels(mode) // channels + 1) if size[1] % n == 0]

    def cycles(count: int) -> int:
        return costs.cycles(mode, count * channels, count * outputs, size[0], size[1] // count)

    return min(counts, key=lambda n: (cycles(n), n), default=1)


def block_filters(weights: np.ndarray, count: int) -> np.ndarray:
    """Filters of `count` pixels [pixels and outputs, rows, columns, pixels and channels]."""
    outputs, rows, columns, channels = weights.shape
    middle = columns // 2
    blocks = np.zeros((count, outputs, rows, columns, count, channels), weights.dtype)
    for target in range(count):
        for column in range(columns):
            step, source = divmod(target + column - middle, count)
            blocks[target, :, :, step + middle, source] = weights[:, :, column]
    return blocks.reshape(count * outputs, rows, columns, count * channels)
