"""Transposed convolutions of a quantize/dequantize graph.

A transposed convolution writes every output pixel from those taps that fall on its phase, the position modulo the
stride. All phases together are one ordinary convolution with stride 1, a block of outputs for every phase, and
the phases are laid side by side afterwards. A kernel of 2x2 with stride 2 becomes a 1x1 convolution.

    conv2d_transpose(x, stride 2)   becomes   conv2d(x, four times the channels) -> blocks as pixels -> crop
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.near_weights import weights
from tvm_pulp.canonicalize.qdq_layers import LayerTarget, convolution
from tvm_pulp.canonicalize.qdq_operands import Quantized, QuantizedConstant
from tvm_pulp.qnn.operator import spec_of

if TYPE_CHECKING:
    from tvm_pulp.canonicalize.qdq_rewriter import QdqRewriter

_TO_NHWC, _TO_NCHW = [0, 2, 3, 1], [0, 3, 1, 2]
# First spatial axis of a layout.
_SPATIAL = {"NHWC": 1, "NCHW": 2}


@dataclass(frozen=True)
class Axis:
    """One direction of a transposed convolution; `before` and `after` is what its padding cuts off the full result."""

    size: int
    kernel: int
    stride: int
    dilation: int
    before: int
    after: int

    @property
    def reach(self) -> int:
        """The largest tap, in positions of the result."""
        return self.dilation * (self.kernel - 1)

    @property
    def taps(self) -> int:
        """Input positions that one block of phases reads."""
        return self.reach // self.stride + 1

    @property
    def result(self) -> int:
        return self.stride * (self.size - 1) + self.reach + 1 - self.before - self.after

    @property
    def first_block(self) -> int:
        return self.before // self.stride

    @property
    def blocks(self) -> int:
        return (self.before + self.result - 1) // self.stride + 1 - self.first_block

    @property
    def pads(self) -> tuple[int, int]:
        """Padding of the ordinary convolution that computes all blocks."""
        return self.taps - 1 - self.first_block, self.first_block + self.blocks - self.size

    @property
    def crop(self) -> int:
        """Pixels of the first block that are not part of the result."""
        return self.before - self.stride * self.first_block


def conv1d_transpose(fold: QdqRewriter, call: Any, target: LayerTarget, bias: Any = None) -> Any:
    """One spatial axis: the other has size one."""
    x, weight = fold.operands.quantized(call.args[0]), _weights(fold, call)
    if x is None or weight is None or (str(call.attrs.data_layout), str(call.attrs.kernel_layout)) != ("NCW", "IOW"):
        return None
    n, c, length = x.shape
    given, extra = [int(p) for p in call.attrs.padding], int(call.attrs.output_padding[0])
    line = Axis(length, weight.values.shape[2], int(call.attrs.strides[0]), int(call.attrs.dilation[0]), given[0], 0)
    axes = (Axis(1, 1, 1, 1, 0, 0), replace(line, after=given[-1] - extra))
    flat = Quantized(fold.emit(relax.op.reshape(x.value, (n, c, 1, length))), x.scale, x.zero_point)
    weight = weight.rearranged(lambda a: a[:, :, None, :])
    result = _transposed(fold, flat, weight, axes, int(call.attrs.groups), target, bias, rank=3)
    return None if result is None else relax.op.reshape(fold.emit(result), spec_of(call).shape)


def conv2d_transpose(fold: QdqRewriter, call: Any, target: LayerTarget, bias: Any = None) -> Any:
    x, weight, attrs = fold.operands.quantized(call.args[0]), _weights(fold, call), call.attrs
    layout = str(attrs.data_layout)
    if x is None or weight is None or layout not in _SPATIAL or str(attrs.kernel_layout) != "IOHW":
        return None
    given, extra = [int(p) for p in attrs.padding], [int(p) for p in attrs.output_padding]
    axes = tuple(
        Axis(
            x.shape[_SPATIAL[layout] + a],
            weight.values.shape[2 + a],
            int(attrs.strides[a]),
            int(attrs.dilation[a]),
            given[a],
            given[(2 + a) % len(given)] - extra[a],
        )
        for a in range(2)
    )
    return _transposed(fold, x, weight, axes, int(attrs.groups), target, bias, layout=layout)


def _weights(fold: QdqRewriter, call: Any) -> QuantizedConstant | None:
    """In groups an entry of the axis of output channels belongs to several of them: float weights stay so then."""
    if int(call.attrs.groups) > 1:
        return fold.operands.quantized_constant(call.args[1])
    return weights(fold, call.args[1], axis=1)


def _transposed(
    fold: QdqRewriter,
    x: Quantized,
    weight: QuantizedConstant,
    axes: tuple[Axis, ...],
    groups: int,
    target: LayerTarget,
    bias: Any,
    rank: int = 4,
    layout: str = "NCHW",
) -> Any:
    """`rank` is that of the original result, which the bias was added to."""
    if groups == 1 and all(min(axis.pads) >= 0 and axis.result > 0 for axis in axes):
        return _by_phases(fold, x, weight, axes, target, bias, rank, layout)
    return _spread(fold, x, weight, axes, groups, target, bias, rank, layout)


def _by_phases(
    fold: QdqRewriter,
    x: Quantized,
    weight: QuantizedConstant,
    axes: tuple[Axis, ...],
    target: LayerTarget,
    bias: Any,
    rank: int,
    layout: str,
) -> Any:
    plain = weight.rearranged(lambda array: array.transpose(1, 0, 2, 3))
    scales = plain.channel_scales()
    if scales is None:
        return None
    (n, _, _, _), (channels, depth, height, width) = x.shape, plain.values.shape
    phases = axes[0].stride * axes[1].stride
    values = phase_filters(plain.centred, axes)
    if layout == "NHWC":
        values = values.transpose(_TO_NHWC)
    spread_scales = np.tile(scales, phases).reshape(-1, 1, 1, 1)
    filters = QuantizedConstant(
        values, np.broadcast_to(spread_scales, values.shape), np.broadcast_to(np.int64(0), values.shape), weight.is_near
    )
    geometry = {
        "layout": layout,
        "strides": [1, 1],
        "dilation": [1, 1],
        "pads": [axes[0].pads[0], axes[1].pads[0], axes[0].pads[1], axes[1].pads[1]],
        "groups": 1,
        # Taps that no phase has are no work.
        "macs_per_output": depth * height * width // phases,
    }
    blocks = convolution(fold, x, filters, geometry, target, bias, rank, copies=phases)
    return None if blocks is None else _side_by_side(fold, fold.emit(blocks), n, channels, axes, layout)


def phase_filters(weights: np.ndarray, axes: tuple[Axis, ...]) -> np.ndarray:
    """Filters of all phases, each as far apart as the kernel reaches: [phase * output, input, row, column]."""
    channels, depth, height, width = weights.shape
    rows, columns = axes
    found = np.zeros((rows.stride, columns.stride, channels, depth, rows.taps, columns.taps), weights.dtype)
    for row in range(height):
        for column in range(width):
            (up, y), (left, x) = (
                divmod(rows.dilation * row, rows.stride),
                divmod(columns.dilation * column, columns.stride),
            )
            found[y, x, :, :, rows.taps - 1 - up, columns.taps - 1 - left] = weights[:, :, row, column]
    return found.reshape(-1, depth, rows.taps, columns.taps)


def _side_by_side(fold: QdqRewriter, blocks: Any, n: int, channels: int, axes: tuple[Axis, ...], layout: str) -> Any:
    """Phases as pixels, without what the padding cuts off. Channels last: then whole pixels move."""
    rows, columns = axes
    value = blocks if layout == "NHWC" else fold.emit(qnn.emit("transpose", [blocks], {"axes": _TO_NHWC}))
    if rows.stride > 1:
        shape = (n * rows.blocks, columns.blocks, rows.stride, columns.stride * channels)
        turned = qnn.emit("transpose", [fold.emit(relax.op.reshape(value, shape))], {"axes": [0, 2, 1, 3]})
        value = fold.emit(turned)
    shape = (n, rows.stride * rows.blocks, columns.stride * columns.blocks, channels)
    value = fold.emit(relax.op.reshape(value, shape))
    size = [n, rows.result, columns.result, channels]
    if size != list(shape):
        cut = {"begin": [0, rows.crop, columns.crop, 0], "stride": [1] * 4, "size": size}
        value = fold.emit(qnn.emit("slice", [value], cut))
    return value if layout == "NHWC" else qnn.emit("transpose", [value], {"axes": _TO_NCHW})


def _spread(
    fold: QdqRewriter,
    x: Quantized,
    weight: QuantizedConstant,
    axes: tuple[Axis, ...],
    groups: int,
    target: LayerTarget,
    bias: Any,
    rank: int,
    layout: str,
) -> Any:
    """Groups: an ordinary convolution, mirrored, over the input spread by the strides."""
    pads = [axes[0].reach - axes[0].before, axes[1].reach - axes[1].before]
    pads += [axes[0].reach - axes[0].after, axes[1].reach - axes[1].after]
    if min(pads) < 0:
        return None

    def mirrored(array: np.ndarray) -> np.ndarray:
        i, o, kh, kw = array.shape
        grouped = array.reshape(groups, i // groups, o, kh, kw)[:, :, :, ::-1, ::-1]
        plain = grouped.transpose(0, 2, 1, 3, 4).reshape(groups * o, i // groups, kh, kw)
        return plain.transpose(_TO_NHWC) if layout == "NHWC" else plain

    strides = [axis.stride for axis in axes]
    apart = [1, *strides, 1] if layout == "NHWC" else [1, 1, *strides]
    spread = qnn.emit("dilate", [x.value], {"strides": apart, "value": x.zero_point})
    value = x.value if max(strides) == 1 else fold.emit(spread)
    dilation = [axis.dilation for axis in axes]
    geometry = {"layout": layout, "strides": [1, 1], "dilation": dilation, "pads": pads, "groups": groups}
    spread_x = Quantized(value, x.scale, x.zero_point)
    return convolution(fold, spread_x, weight.rearranged(mirrored), geometry, target, bias, rank)
