"""How layers are cut for the cores: for a part of the output, the part of every input and the kernel's attributes.

One rule per operator family. A layer without a rule runs whole, in L1 if it fits and in L2 otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tvm_pulp.qnn.network import Layer
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.strategy import TileAxis
from tvm_pulp.uma.windows import input_span


@dataclass(frozen=True)
class Part:
    """Boxes of the inputs, and attributes of the kernel that computes the part."""

    inputs: tuple[Box, ...]
    attributes: dict[str, Any]


@dataclass(frozen=True)
class TileRule:
    """Axes that may be cut, most favoured first, and what a part needs."""

    axes: Callable[[Layer], tuple[TileAxis, ...]]
    part: Callable[[Layer, Box], Part]


def _constants(layer: Layer, first: int, channels: slice | None) -> list[Box]:
    """Boxes of the constant operands from `first` on: per-channel ones follow the channels."""
    boxes = []
    for tensor in layer.inputs[first:]:
        size = tensor.spec.elements
        if size == 1 or channels is None:
            boxes.append(Box.whole(tensor.spec.shape))
        else:
            boxes.append(Box((channels.start,), (channels.stop - channels.start,)))
    return boxes


def _window_box(layer: Layer, box: Box, kernel: tuple[int, int]) -> tuple[Box, dict[str, Any]]:
    """Input rows and columns of an output part; the attributes keep only the padding that remains."""
    a, (_, height, width, _) = layer.attributes, layer.inputs[0].spec.shape
    (sh, sw), (dh, dw), (top, left, _, _) = a["strides"], a["dilation"], a["pads"]
    rows = input_span(box.start[1], box.size[1], height, kernel[0], sh, dh, top)
    columns = input_span(box.start[2], box.size[2], width, kernel[1], sw, dw, left)
    pads = [rows.before, columns.before, rows.after, columns.after]
    source = Box((box.start[0], rows.start, columns.start, 0), (box.size[0], rows.size, columns.size, 0))
    return source, {**a, "pads": pads}


def _with_channels(box: Box, start: int, size: int) -> Box:
    return Box((*box.start[:3], start), (*box.size[:3], size))


def _planes_part(layer: Layer, box: Box) -> Part:
    """Of a convolution with channels first: some channels of an image."""
    x, weight = layer.inputs[0].spec, layer.inputs[1].spec
    first, count = box.start[1], box.size[1]
    source = Box((box.start[0], 0, 0, 0), (box.size[0], *x.shape[1:]))
    filters = Box((first, 0, 0, 0), (count, *weight.shape[1:]))
    return Part((source, filters, *_constants(layer, 2, slice(first, first + count))), layer.attributes)


def _conv_part(layer: Layer, box: Box) -> Part:
    if layer.attributes["layout"] == "NCHW":
        return _planes_part(layer, box)
    x, weight = layer.inputs[0].spec, layer.inputs[1].spec
    groups = layer.attributes["groups"]
    source, attributes = _window_box(layer, box, (weight.shape[1], weight.shape[2]))
    first, count = box.start[3], box.size[3]
    if groups > 1 and count < weight.shape[0]:
        per_group = weight.shape[0] // groups
        g0, g1 = first // per_group, -(-(first + count) // per_group)
        attributes["groups"] = g1 - g0
        source = _with_channels(source, g0 * weight.shape[3], (g1 - g0) * weight.shape[3])
    else:
        source = _with_channels(source, 0, x.shape[3])
    filters = Box((first, 0, 0, 0), (count, *weight.shape[1:]))
    rest = _constants(layer, 2, slice(first, first + count))
    return Part((source, filters, *rest), attributes)


def _conv_axes(layer: Layer) -> tuple[TileAxis, ...]:
    if layer.attributes["layout"] == "NCHW":
        return (TileAxis(1), TileAxis(0)) if layer.attributes["groups"] == 1 else (TileAxis(0),)
    groups, outputs = layer.attributes["groups"], layer.outputs[0].spec.shape[3]
    step = outputs // groups if groups > 1 else 1
    return (TileAxis(1), TileAxis(3, step), TileAxis(2), TileAxis(0))


def _dense_part(layer: Layer, box: Box) -> Part:
    depth = layer.inputs[1].spec.shape[1]
    source = Box((*box.start[:-1], 0), (*box.size[:-1], depth))
    first, count = box.start[-1], box.size[-1]
    filters = Box((first, 0), (count, depth))
    return Part((source, filters, *_constants(layer, 2, slice(first, first + count))), layer.attributes)


def _dense_axes(layer: Layer) -> tuple[TileAxis, ...]:
    rank = len(layer.outputs[0].spec.shape)
    return (TileAxis(rank - 1), *(TileAxis(a) for a in reversed(range(rank - 1))))


def _matmul_part(layer: Layer, box: Box) -> Part:
    a, b = layer.inputs[0].spec, layer.inputs[1].spec

    def batch(shape: tuple[int, ...]) -> tuple[list[int], list[int]]:
        lead, count = shape[:-2], len(shape) - 2
        starts, sizes = box.start[:-2][len(box.start) - 2 - count :], box.size[:-2][len(box.size) - 2 - count :]
        return (
            [0 if d == 1 else s for d, s in zip(lead, starts, strict=True)],
            [1 if d == 1 else s for d, s in zip(lead, sizes, strict=True)],
        )

    (sa, za), (sb, zb) = batch(a.shape), batch(b.shape)
    left = Box((*sa, box.start[-2], 0), (*za, box.size[-2], a.shape[-1]))
    columns = (box.start[-1], box.size[-1])
    if layer.attributes["transpose_b"]:
        right = Box((*sb, columns[0], 0), (*zb, columns[1], b.shape[-1]))
    else:
        right = Box((*sb, 0, columns[0]), (*zb, b.shape[-2], columns[1]))
    rest = _constants(layer, 2, slice(columns[0], columns[0] + columns[1]))
    return Part((left, right, *rest), layer.attributes)


def _all_axes(layer: Layer) -> tuple[TileAxis, ...]:
    return tuple(TileAxis(a) for a in range(len(layer.outputs[0].spec.shape)))


def _row_axes(layer: Layer) -> tuple[TileAxis, ...]:
    return tuple(TileAxis(a) for a in range(len(layer.outputs[0].spec.shape) - 1))


def broadcast_box(shape: tuple[int, ...], box: Box) -> Box:
    """Part of a broadcast operand."""
    start, size = box.start[len(box.start) - len(shape) :], box.size[len(box.size) - len(shape) :]
    return Box(
        tuple(0 if d == 1 else s for d, s in zip(shape, start, strict=True)),
        tuple(1 if d == 1 else s for d, s in zip(shape, size, strict=True)),
    )


def _elementwise(data: Callable[[Layer], int]) -> TileRule:
    """Every data operand follows the output; requantization vectors follow their axis."""

    def part(layer: Layer, box: Box) -> Part:
        count = data(layer)
        boxes = [broadcast_box(t.spec.shape, box) for t in layer.inputs[:count]]
        axis = layer.attributes.get("axis", -1)
        channels = slice(box.start[axis], box.start[axis] + box.size[axis])
        return Part((*boxes, *_constants(layer, count, channels)), layer.attributes)

    return TileRule(_all_axes, part)


def _map_part(layer: Layer, box: Box) -> Part:
    boxes = tuple(broadcast_box(t.spec.shape, box) for t in layer.inputs)
    return Part(boxes, {**layer.attributes, "shape": list(box.size)})


def _rows_part(layer: Layer, box: Box) -> Part:
    rest = [Box.whole(t.spec.shape) for t in layer.inputs[1:]]
    return Part((box, *rest), layer.attributes)


def _pool_part(layer: Layer, box: Box) -> Part:
    source, attributes = _window_box(layer, box, tuple(layer.attributes["kernel"]))
    rest = [Box.whole(t.spec.shape) for t in layer.inputs[1:]]
    return Part((_with_channels(source, box.start[3], box.size[3]), *rest), attributes)


def _pool_axes(_layer: Layer) -> tuple[TileAxis, ...]:
    return (TileAxis(1), TileAxis(3), TileAxis(2), TileAxis(0))


def _float_window(layer: Layer, box: Box, kernel: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """First input row and column of an output part, and how many; no padding, layout NCHW."""
    strides, dilation = layer.attributes["strides"], layer.attributes["dilation"]
    first = tuple(box.start[2 + a] * strides[a] for a in range(2))
    count = tuple((box.size[2 + a] - 1) * strides[a] + (kernel[a] - 1) * dilation[a] + 1 for a in range(2))
    return first, count


def _float_conv_axes(layer: Layer) -> tuple[TileAxis, ...]:
    # Groups stay together.
    filters = (TileAxis(1),) if layer.attributes["groups"] == 1 else ()
    return (TileAxis(2), *filters, TileAxis(0), TileAxis(3))


def _float_conv_part(layer: Layer, box: Box) -> Part:
    x, weight = layer.inputs[0].spec.shape, layer.inputs[1].spec.shape
    first, count = _float_window(layer, box, weight[1:3])
    source = Box((box.start[0], 0, *first), (box.size[0], x[1], *count))
    filters = Box((0, 0, 0, box.start[1]), (*weight[:3], box.size[1]))
    rest = _constants(layer, 2, slice(box.start[1], box.start[1] + box.size[1]))
    return Part((source, filters, *rest), layer.attributes)


def _float_pool_axes(_layer: Layer) -> tuple[TileAxis, ...]:
    return (TileAxis(1), TileAxis(2), TileAxis(0), TileAxis(3))


def _float_pool_part(layer: Layer, box: Box) -> Part:
    first, count = _float_window(layer, box, tuple(layer.attributes["kernel"]))
    return Part((Box((*box.start[:2], *first), (*box.size[:2], *count)),), layer.attributes)


def _kept(layer: Layer) -> list[int]:
    """Input axis of each axis of a reduction's result."""
    axes, keep = layer.attributes["axes"], layer.attributes["keepdims"]
    return [a for a in range(len(layer.inputs[0].spec.shape)) if keep or a not in axes]


def _reduce_axes(layer: Layer) -> tuple[TileAxis, ...]:
    return tuple(TileAxis(i) for i, a in enumerate(_kept(layer)) if a not in layer.attributes["axes"])


def _reduce_part(layer: Layer, box: Box) -> Part:
    shape = layer.inputs[0].spec.shape
    start, size = [0] * len(shape), list(shape)
    for position, axis in enumerate(_kept(layer)):
        if axis not in layer.attributes["axes"]:
            start[axis], size[axis] = box.start[position], box.size[position]
    return Part((Box(tuple(start), tuple(size)),) * len(layer.inputs), layer.attributes)


def _transpose_part(layer: Layer, box: Box) -> Part:
    axes = layer.attributes["axes"]
    start, size = [0] * len(axes), [0] * len(axes)
    for position, axis in enumerate(axes):
        start[axis], size[axis] = box.start[position], box.size[position]
    return Part((Box(tuple(start), tuple(size)),), layer.attributes)


def _channels_last_part(layer: Layer, box: Box) -> Part:
    start, size = ((of[0], of[-1], *of[1:-1]) for of in (box.start, box.size))
    return Part((Box(start, size), *_constants(layer, 1, None)), layer.attributes)


def _pad_axes(layer: Layer) -> tuple[TileAxis, ...]:
    """All axes; every part needs something of the input, so those of a padded axis are longer than its padding."""
    shape, a = layer.outputs[0].spec.shape, layer.attributes
    steps = [_pad_step(*sizes) for sizes in zip(shape, a["before"], a["after"], strict=True)]
    return tuple(TileAxis(axis, step) for axis, step in enumerate(steps) if step < shape[axis] or step == 1)


def _pad_step(size: int, before: int, after: int) -> int:
    """The shortest length of parts of which the last is longer than the padding too."""
    lengths = range(max(before, after) + 1 if before or after else 1, size)
    return next((n for n in lengths if size % n == 0 or size % n > after), max(1, size))


def _pad_part(layer: Layer, box: Box) -> Part:
    a, starts, sizes, before, after = layer.attributes, [], [], [], []
    for axis, extent in enumerate(layer.inputs[0].spec.shape):
        first, end = box.start[axis], box.start[axis] + box.size[axis]
        inner = max(0, first - a["before"][axis]), min(extent, end - a["before"][axis])
        starts.append(inner[0])
        sizes.append(inner[1] - inner[0])
        before.append(max(0, a["before"][axis] - first))
        after.append(max(0, end - a["before"][axis] - extent))
    return Part((Box(tuple(starts), tuple(sizes)),), {**a, "before": before, "after": after})


def _operands(layer: Layer) -> int:
    return int(layer.attributes["operands"])


RULES: dict[str, TileRule] = {
    "conv2d": TileRule(_conv_axes, _conv_part),
    "dense": TileRule(_dense_axes, _dense_part),
    "matmul": TileRule(_all_axes, _matmul_part),
    "float_matmul": TileRule(_all_axes, _matmul_part),
    "float_conv2d": TileRule(_float_conv_axes, _float_conv_part),
    "float_pool": TileRule(_float_pool_axes, _float_pool_part),
    "float_reduce": TileRule(_reduce_axes, _reduce_part),
    "float_softmax": TileRule(_row_axes, _rows_part),
    "float_norm": TileRule(_row_axes, _rows_part),
    "requantize": _elementwise(lambda _: 1),
    "quantize": _elementwise(lambda _: 1),
    "quantize_channels_last": TileRule(_all_axes, _channels_last_part),
    "dequantize": _elementwise(lambda _: 1),
    "hardswish": _elementwise(lambda _: 1),
    "gelu": _elementwise(lambda _: 1),
    "float_map": TileRule(_all_axes, _map_part),
    "add": _elementwise(lambda _: 2),
    "add_accumulators": _elementwise(lambda _: 2),
    "sub": _elementwise(lambda _: 2),
    "mul": _elementwise(lambda _: 2),
    "qdq_mul": _elementwise(lambda _: 2),
    "no_norm": _elementwise(lambda _: 3),
    "integer_div": _elementwise(_operands),
    "lookup": TileRule(_all_axes, _rows_part),
    "curve": TileRule(_all_axes, _rows_part),
    "softmax": TileRule(_row_axes, _rows_part),
    "rms_norm": TileRule(_row_axes, _rows_part),
    "layer_norm": TileRule(_row_axes, _rows_part),
    "qdq_norm": TileRule(_row_axes, _rows_part),
    "max_pool": TileRule(_pool_axes, _pool_part),
    "avg_pool": TileRule(_pool_axes, _pool_part),
    "transpose": TileRule(_all_axes, _transpose_part),
    "pad": TileRule(_pad_axes, _pad_part),
}
