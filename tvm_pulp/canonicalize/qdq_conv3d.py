"""Convolutions along three axes of a quantize/dequantize graph.

Pictures that one output picture reads become its channels: what is left is a convolution along two axes, and a batch of
as many pictures as the first axis of the result is long.

    conv3d(x[n, c, d, h, w], kernel k x 3 x 3)   becomes   conv2d(x[n * d, k * c, h, w], kernel 3 x 3)
"""

from dataclasses import replace
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.near_weights import weights
from tvm_pulp.canonicalize.qdq_layers import Convolution, LayerTarget, convolution
from tvm_pulp.canonicalize.qdq_movement import steps
from tvm_pulp.canonicalize.qdq_rewriter import QdqRewriter, QuantizedTensor
from tvm_pulp.canonicalize.rewriter import needed, or_none, require, spec_of
from tvm_pulp.window import Window

# Channels behind the first spatial axis, and the same back again.
_SWAPPED = [0, 2, 1, 3, 4]


@or_none
def conv3d(fold: QdqRewriter, call: Any, target: LayerTarget, bias: Any = None) -> Any:
    x, weight = needed(fold.quantized(call.args[0])), needed(weights(fold, call.args[1], axis=0))
    require((str(call.attrs.data_layout), str(call.attrs.kernel_layout)) == ("NCDHW", "OIDHW"))
    strides, dilation, pads = steps(call).values()
    groups = int(call.attrs.groups)
    outputs, per_group, depth, height, width = weight.values.shape
    # A channel by itself has so little work that floats are faster.
    require(per_group > 1 or groups == 1)
    pictures = _gathered(fold, x, Window(depth, strides[0], dilation[0], pads[0], pads[3]), groups)
    geometry = {
        "layout": "NCHW",
        "strides": strides[1:],
        "dilation": dilation[1:],
        "pads": [pads[1], pads[2], pads[4], pads[5]],
        "groups": groups,
    }

    def flat(array: np.ndarray) -> np.ndarray:
        return array.transpose(_SWAPPED).reshape(outputs, depth * per_group, height, width)

    layer = Convolution(pictures, weight.rearranged(flat), geometry, bias, axes=5)
    made = fold.emit(convolution(fold, layer, target))
    n, (_, _, *size) = x.shape[0], spec_of(made).shape
    split = fold.emit(relax.op.reshape(made, (n, pictures.shape[0] // n, outputs, *size)))
    return qnn.emit("transpose", [split], {"axes": _SWAPPED})


def _gathered(fold: QdqRewriter, x: QuantizedTensor, window: Window, groups: int) -> QuantizedTensor:
    """Pictures with all that an output picture reads as channels: of each group first those of the first tap."""
    n, channels, size, *picture = x.shape
    count, kernel = window.output_extent(size), window.kernel
    value = fold.emit(qnn.emit("transpose", [x.value], {"axes": _SWAPPED}))
    if window.before or window.after:
        before, after = ([0, amount, 0, 0, 0] for amount in (window.before, window.after))
        value = fold.emit(qnn.emit("pad", [value], {"before": before, "after": after, "value": x.zero_point}))
    whole, parts = [n, count, channels, *picture], []
    for tap in range(kernel):
        cut = {"begin": [0, tap * window.dilation, 0, 0, 0], "stride": [1, window.stride, 1, 1, 1], "size": whole}
        part = fold.emit(qnn.emit("slice", [value], cut))
        parts.append(
            fold.emit(relax.op.reshape(part, (n * count * groups, channels // groups * int(np.prod(picture)))))
        )
    joined = fold.emit(qnn.emit("concat", parts, {"axis": 1})) if kernel > 1 else parts[0]
    made = fold.emit(relax.op.reshape(joined, (n * count, kernel * channels, *picture)))
    return replace(x, value=made)
