"""Pass: pictures of three channels are quantized to pixels of a word where their windows are laid out as rows.

Rows of windows are copied by words, which lie anywhere where a pixel has three bytes: an access to two words takes two
cycles, and cores meet in the same banks. The fourth byte is multiplied by zero. Expects canonical layers; guarantees
the same values.

    transpose(quantize(x)) -> conv2d 3x3, stride 2, 3 channels
    becomes   quantize_channels_last(x), 4 channels -> conv2d 3x3, stride 2, 4 channels
"""

from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, needed, require, spec_of
from tvm_pulp.qnn.conv2d import Conv2dAttributes
from tvm_pulp.qnn.operator import relax_name
from tvm_pulp.quick_records import changed

_TO_NHWC = [0, 2, 3, 1]
_PLANES, _CHANNELS = 3, 4
# Longer rows of a window are copied by sixteen bytes at a time, and what is copied would be a third more.
_COLUMNS = 4


class WordPixels(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        require(qnn.is_qnn(value, "conv2d"))
        attributes, weights = qnn.attributes(value, Conv2dAttributes), needed(constant(value.args[1]))
        require(self._copies_short_rows(attributes, weights.shape))
        moved = needed(self.single(value.args[0], "transpose"))
        require(qnn.attributes(moved)["axes"] == _TO_NHWC)
        pixels = self.emit(self._as_words(moved.args[0]), f"{variable.name}_pixels")
        if attributes.macs_per_output is None:
            attributes = changed(attributes, macs_per_output=int(np.prod(weights.shape[1:])))
        widened = np.pad(weights, [(0, 0)] * 3 + [(0, _CHANNELS - _PLANES)])
        return qnn.emit("conv2d", [pixels, widened, *value.args[2:]], attributes)

    def _as_words(self, planes: Any) -> Any:
        """A quantized picture that nobody else reads, as pixels of four bytes."""
        made, spec = self.definition(planes), spec_of(planes)
        require(relax_name(made) == "relax.quantize" and self.uses(planes) == 1)
        x, scale, zero = made.args[0], *(needed(constant(p)) for p in made.args[1:])
        require(spec.shape[0] == 1 and spec.dtype in ("int8", "uint8") and spec_of(x).dtype == "float32")
        require(scale.size == zero.size == 1 and scale.dtype == np.float32 and bool((scale > 0).all()))
        with np.errstate(all="ignore"):
            operands = [x, *(relax.const(v) for v in (scale, (np.float32(1) / scale).astype(np.float32), zero))]
        return qnn.emit("quantize_channels_last", operands, {"channels": _CHANNELS, "dtype": spec.dtype})

    @staticmethod
    def _copies_short_rows(attributes: Conv2dAttributes, filters: tuple[int, ...]) -> bool:
        """The array does not have the kernel, and three channels of few columns are a row."""
        _, rows, columns, channels = filters
        direct = attributes.strides == (1, 1) and (rows, columns) == (3, 3)
        plain = attributes.dilation == (1, 1) and attributes.groups == 1
        return plain and channels == _PLANES and not direct and 1 < columns <= _COLUMNS
