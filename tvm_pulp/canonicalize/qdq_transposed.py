"""Transposed convolutions of a quantize/dequantize graph.

A transposed convolution writes every output pixel from those taps that fall on its phase, the position modulo the
stride. All phases together are one ordinary convolution with stride 1, a block of outputs for every phase, and
the phases are laid side by side afterwards. A kernel of 2x2 with stride 2 becomes a 1x1 convolution.

    conv2d_transpose(x, stride 2)   becomes   conv2d(x, four times the channels) -> blocks as pixels -> crop
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.near_weights import weights
from tvm_pulp.canonicalize.qdq_layers import Convolution, LayerTarget, convolution, line_layer
from tvm_pulp.canonicalize.qdq_rewriter import QdqRewriter, QuantizedConstant
from tvm_pulp.canonicalize.rewriter import integers, needed, or_none, require
from tvm_pulp.window import Window

_TO_NHWC, _TO_NCHW = [0, 2, 3, 1], [0, 3, 1, 2]
# First spatial axis of a layout.
_SPATIAL = {"NHWC": 1, "NCHW": 2, "NCW": 2}


@dataclass(frozen=True)
class TransposedAxis:
    """One direction of a transposed convolution; the padding of its window is what is cut off the full result."""

    size: int
    window: Window

    @property
    def stride(self) -> int:
        return self.window.stride

    @property
    def taps(self) -> int:
        """Input positions that one block of phases reads."""
        return self.window.reach // self.stride + 1

    @property
    def result(self) -> int:
        return self.window.transposed_extent(self.size)

    @property
    def first_block(self) -> int:
        return self.window.before // self.stride

    @property
    def blocks(self) -> int:
        return (self.window.before + self.result - 1) // self.stride + 1 - self.first_block

    @property
    def pads(self) -> tuple[int, int]:
        """Padding of the ordinary convolution that computes all blocks."""
        return self.taps - 1 - self.first_block, self.first_block + self.blocks - self.size

    @property
    def crop(self) -> int:
        """Pixels of the first block that are not part of the result."""
        return self.window.before - self.stride * self.first_block


@or_none
def conv_transpose(fold: QdqRewriter, call: Any, target: LayerTarget, bias: Any = None) -> Any:
    """One or two spatial axes."""
    x, weight = needed(fold.quantized(call.args[0])), needed(_weights(fold, call))
    layout, kernel_layout = str(call.attrs.data_layout), str(call.attrs.kernel_layout)
    require(layout in _SPATIAL and kernel_layout == ("IOW" if layout == "NCW" else "IOHW"))
    sizes, kernel = x.shape[_SPATIAL[layout] :], weight.values.shape[2:]
    *rows, columns = (spatial_axis(call.attrs, a, sizes[a], extent) for a, extent in enumerate(kernel))
    geometry = {"layout": layout, "groups": int(call.attrs.groups)}
    if not rows:
        layer = line_layer(fold, x, weight, geometry, bias)
        return fold.shaped_like(call, _transposed(fold, layer, (TransposedAxis(1, Window()), columns), target))
    return _transposed(fold, Convolution(x, weight, geometry, bias), (rows[0], columns), target)


def spatial_axis(attrs: Any, number: int, size: int, kernel: int) -> TransposedAxis:
    """One spatial axis of a transposed convolution, by its number."""
    pads, rank = integers(attrs.padding), len(attrs.strides)
    after = pads[(rank + number) % len(pads)] - int(attrs.output_padding[number])
    return TransposedAxis(
        size, Window(kernel, int(attrs.strides[number]), int(attrs.dilation[number]), pads[number], after)
    )


def _weights(fold: QdqRewriter, call: Any) -> QuantizedConstant | None:
    """In groups an entry of the axis of output channels belongs to several of them: float weights stay so then."""
    if int(call.attrs.groups) > 1:
        return fold.quantized_constant(call.args[1])
    return weights(fold, call.args[1], axis=1)


def _transposed(
    fold: QdqRewriter, layer: Convolution, axes: tuple[TransposedAxis, TransposedAxis], target: LayerTarget
) -> Any:
    """`layer` has the weights of the transposed convolution, and of its geometry layout and groups."""
    if layer.geometry["groups"] == 1 and all(min(axis.pads) >= 0 and axis.result > 0 for axis in axes):
        return _by_phases(fold, layer, axes, target)
    return _spread(fold, layer, axes, target)


def _by_phases(
    fold: QdqRewriter, layer: Convolution, axes: tuple[TransposedAxis, TransposedAxis], target: LayerTarget
) -> Any:
    plain, layout = layer.weight.rearranged(lambda array: array.transpose(1, 0, 2, 3)), layer.geometry["layout"]
    scales = needed(plain.channel_scales())
    channels, depth, height, width = plain.values.shape
    phases = axes[0].stride * axes[1].stride
    values = phase_filters(plain.centred, axes)
    if layout == "NHWC":
        values = values.transpose(_TO_NHWC)
    spread_scales = np.broadcast_to(np.tile(scales, phases).reshape(-1, 1, 1, 1), values.shape)
    zeros = np.broadcast_to(np.int64(0), values.shape)
    geometry = {
        "layout": layout,
        "strides": [1, 1],
        "dilation": [1, 1],
        "pads": [axes[0].pads[0], axes[1].pads[0], axes[0].pads[1], axes[1].pads[1]],
        "groups": 1,
        # Taps that no phase has are no work.
        "macs_per_output": depth * height * width // phases,
    }
    filters = QuantizedConstant(values, spread_scales, zeros, layer.weight.is_near)
    blocks = convolution(fold, replace(layer, weight=filters, geometry=geometry, copies=phases), target)
    return _side_by_side(fold, fold.emit(blocks), layer.x.shape[0], channels, axes, layout)


def phase_filters(weights: np.ndarray, axes: tuple[TransposedAxis, TransposedAxis]) -> np.ndarray:
    """Filters of all phases, each as far apart as the kernel reaches: [phase * output, input, row, column]."""
    channels, depth, height, width = weights.shape
    rows, columns = axes
    found = np.zeros((rows.stride, columns.stride, channels, depth, rows.taps, columns.taps), weights.dtype)
    for row in range(height):
        for column in range(width):
            up, y = divmod(rows.window.dilation * row, rows.stride)
            left, x = divmod(columns.window.dilation * column, columns.stride)
            found[y, x, :, :, rows.taps - 1 - up, columns.taps - 1 - left] = weights[:, :, row, column]
    return found.reshape(-1, depth, rows.taps, columns.taps)


def _side_by_side(
    fold: QdqRewriter, blocks: Any, n: int, channels: int, axes: tuple[TransposedAxis, TransposedAxis], layout: str
) -> Any:
    """Phases as pixels, without what the padding cuts off. Channels last: then whole pixels move."""
    rows, columns = axes
    value = blocks if layout == "NHWC" else fold.emit(qnn.emit("transpose", [blocks], {"axes": _TO_NHWC}))
    if rows.stride > 1:
        shape = (n * rows.blocks, columns.blocks, rows.stride, columns.stride * channels)
        interleaved = qnn.emit("transpose", [fold.emit(relax.op.reshape(value, shape))], {"axes": [0, 2, 1, 3]})
        value = fold.emit(interleaved)
    shape = (n, rows.stride * rows.blocks, columns.stride * columns.blocks, channels)
    value = fold.emit(relax.op.reshape(value, shape))
    size = [n, rows.result, columns.result, channels]
    if size != list(shape):
        cut = {"begin": [0, rows.crop, columns.crop, 0], "stride": [1] * 4, "size": size}
        value = fold.emit(qnn.emit("slice", [value], cut))
    return value if layout == "NHWC" else qnn.emit("transpose", [value], {"axes": _TO_NCHW})


def _spread(
    fold: QdqRewriter, layer: Convolution, axes: tuple[TransposedAxis, TransposedAxis], target: LayerTarget
) -> Any:
    """Groups: an ordinary convolution, mirrored, over the input spread by the strides."""
    x, (layout, groups) = layer.x, (layer.geometry[name] for name in ("layout", "groups"))
    sides = [(axis.window.before, axis.window.after) for axis in axes]
    pads = [axis.window.reach - side[end] for end in (0, 1) for axis, side in zip(axes, sides, strict=True)]
    require(min(pads) >= 0)

    def mirrored(array: np.ndarray) -> np.ndarray:
        i, o, kh, kw = array.shape
        grouped = array.reshape(groups, i // groups, o, kh, kw)[:, :, :, ::-1, ::-1]
        plain = grouped.transpose(0, 2, 1, 3, 4).reshape(groups * o, i // groups, kh, kw)
        return plain.transpose(_TO_NHWC) if layout == "NHWC" else plain

    strides = [axis.stride for axis in axes]
    apart = [1, *strides, 1] if layout == "NHWC" else [1, 1, *strides]
    spread = qnn.emit("dilate", [x.value], {"strides": apart, "value": x.zero_point})
    value = x.value if max(strides) == 1 else fold.emit(spread)
    geometry = {**layer.geometry, "strides": [1, 1], "dilation": [axis.window.dilation for axis in axes], "pads": pads}
    weight = layer.weight.rearranged(mirrored)
    return convolution(fold, replace(layer, x=replace(x, value=value), weight=weight, geometry=geometry), target)
