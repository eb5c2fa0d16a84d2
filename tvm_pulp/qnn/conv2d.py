"""Two-dimensional convolution with bias and requantization inside.

Operands: x, weight[, bias][, requantization tensors]. Canonical layouts: x NHWC, weight OHWI. `layout` NCHW (weight
OIHW) is what a model may bring until the NHWC pass has run, and what an engine may ask for. `pads` are top, left,
bottom, right; padding reads as the input's zero point, so it contributes nothing.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import product
from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.operator import Arrays, Loops, Operator, Requant, Specs, TensorSpec, i32, less, register
from tvm_pulp.qnn.record import LinearAttributes
from tvm_pulp.qnn.tiles import Box, Part, TileAxis, TileRule, Whole, constants, window_box, with_channels
from tvm_pulp.qnn.window_attributes import StepAttributes, WindowAttributes, windows
from tvm_pulp.quick_records import changed, quick_record
from tvm_pulp.window import Window


@quick_record(kw_only=True, slots=False)
class Conv2dAttributes(WindowAttributes, LinearAttributes):
    """`macs_per_output` is stated where filters hold zeros that are no work."""

    layout: str = "NHWC"
    groups: int = 1
    macs_per_output: int | None = None


def output_size(attributes: StepAttributes, height: int, width: int, kh: int, kw: int) -> tuple[int, int]:
    """Rows and columns of a result; without `pads` there is no padding."""
    rows, columns = windows(attributes, (kh, kw))
    return rows.output_extent(height), columns.output_extent(width)


def taps(
    attributes: StepAttributes, kernel: Sequence[int], size: Sequence[int]
) -> Iterator[tuple[int, int, tuple[slice, slice]]]:
    """Rows and columns of a kernel, with those of the padded input that it meets for a result of a size."""
    rows, columns = windows(attributes, kernel)
    for ky, kx in product(range(kernel[0]), range(kernel[1])):
        yield ky, kx, (rows.met(ky, size[0]), columns.met(kx, size[1]))


def _axes(whole: Whole) -> tuple[TileAxis, ...]:
    attributes = Conv2dAttributes.of(whole)
    groups = attributes.groups
    if attributes.layout == "NCHW":
        return (TileAxis(1), TileAxis(0)) if groups == 1 else (TileAxis(0),)
    step = whole.output.shape[3] // groups if groups > 1 else 1
    return (TileAxis(1), TileAxis(3, step), TileAxis(2), TileAxis(0))


def _part(whole: Whole, box: Box) -> Part:
    x, weight, attributes = whole.inputs[0].shape, whole.inputs[1].shape, Conv2dAttributes.of(whole)
    channels_first, groups = attributes.layout == "NCHW", attributes.groups
    made = box.span(1 if channels_first else 3)
    first, count = made.start, made.stop - made.start
    if channels_first:
        source = Box((box.start[0], 0, 0, 0), (box.size[0], *x[1:]))
    else:
        source, attributes = window_box(whole, attributes, box, weight[1:3])
        if groups > 1 and count < weight[0]:
            per_group = weight[0] // groups
            g0, g1 = first // per_group, -(-(first + count) // per_group)
            attributes = changed(attributes, groups=g1 - g0)
            source = with_channels(source, g0 * weight[3], (g1 - g0) * weight[3])
        else:
            source = with_channels(source, 0, x[3])
    return Part((source, Box((first, 0, 0, 0), (count, *weight[1:])), *constants(whole.inputs[2:], made)), attributes)


@register(
    "conv2d",
    attributes=Conv2dAttributes,
    operands="x weight bias",
    tile=TileRule(_axes, _part),
)
class Conv2d(Operator[Conv2dAttributes]):
    def infer(self, attributes: Conv2dAttributes, inputs: Specs) -> TensorSpec:
        x, weight = inputs[:2]
        dtype = Requant.of(attributes).out_dtype
        channels_first = attributes.layout == "NCHW"
        (n, h, w, _), (o, kh, kw, _) = (_last(s.shape) if channels_first else s.shape for s in (x, weight))
        size = output_size(attributes, h, w, kh, kw)
        return TensorSpec((n, o, *size) if channels_first else (n, *size, o), dtype)

    def reference(self, attributes: Conv2dAttributes, inputs: Arrays) -> np.ndarray:
        x, weight = inputs[0].astype(np.int64), inputs[1].astype(np.int64)
        requant = Requant.of(attributes)
        channels_first = attributes.layout == "NCHW"
        if channels_first:
            x, weight = x.transpose(0, 2, 3, 1), weight.transpose(0, 2, 3, 1)
        (top, left, bottom, right), groups = attributes.pads, attributes.groups
        _, h, w, _ = x.shape
        o, kh, kw, per_group = weight.shape
        oh, ow = output_size(attributes, h, w, kh, kw)
        x = np.pad(x - attributes.zero_point, ((0, 0), (top, bottom), (left, right), (0, 0)))
        acc = np.zeros((x.shape[0], oh, ow, o), np.int64)
        for ky, kx, met in taps(attributes, (kh, kw), (oh, ow)):
            window = x[:, *met].reshape(*acc.shape[:3], groups, per_group)
            factors = weight[:, ky, kx].reshape(groups, o // groups, per_group)
            acc += np.einsum("nhwgi,goi->nhwgo", window, factors).reshape(acc.shape)
        if attributes.has_bias:
            acc += inputs[2].astype(np.int64)
        out = requant.apply(acc, requant.tensors(inputs))
        return out.transpose(0, 3, 1, 2) if channels_first else out

    def body(self, loops: Loops, attributes: Conv2dAttributes, inputs: Specs, output: TensorSpec) -> None:
        requant = Requant.of(attributes)
        zero_point, groups = attributes.zero_point, attributes.groups
        x, weight, *bias = loops.buffers("x weight bias", inputs[: 2 + attributes.has_bias])
        operands = loops.buffers("mul add", requant.tensors(inputs))
        y = loops.buffer("y", output)
        channels_first = attributes.layout == "NCHW"
        shapes = (_last(s.shape) if channels_first else s.shape for s in (*inputs[:2], output))
        (n, h, w, _), (o, kh, kw, per_group), (_, oh, ow, _) = shapes

        def at(first: Any, row: Any, column: Any, channel: Any) -> list[Any]:
            return [first, channel, row, column] if channels_first else [first, row, column, channel]

        rows, columns = windows(attributes, (kh, kw))
        padded = rows.is_padded(oh, h), columns.is_padded(ow, w)
        with loops.parallel("pixel", n * oh * ow) as pixel:
            batch, oy, ox = pixel_place(loops, pixel, (n, oh, ow))
            top_row, left_column = rows.position(oy), columns.position(ox)

            def channels(padded: tuple[bool, bool]) -> None:
                """All channels of a pixel, with a look at every tap whether it is inside where windows are padded."""
                with loops.loop("k", o) as k:
                    acc = loops.accumulator(bias[0][k] if bias else 0, attributes)
                    first = tirx.truncdiv(k, i32(o // groups)) * per_group if groups > 1 else i32(0)
                    # The only channel of a group needs no loop.
                    with (
                        tap_loops(loops, (rows, columns), (h, w), (oy, ox), padded) as (ky, kx, iy, ix),
                        loops.loop("c", per_group) if per_group > 1 else nullcontext(i32(0)) as c,
                    ):
                        value = i32(x[tuple(at(batch, iy, ix, first + c if groups > 1 else c))])
                        acc.add_product(less(value, zero_point), i32(weight[tuple(at(k, ky, kx, c))]))
                    loops.store(y, at(batch, oy, ox, k), requant.expression(acc.value, operands, k))

            if groups > 1 and per_group == 1 and any(padded):
                # Few products for every tap: windows inside the image are worth code of their own.
                lowest, rightmost = top_row + rows.reach, left_column + columns.reach
                with loops.when(tirx.all(top_row >= 0, lowest < h, left_column >= 0, rightmost < w)):
                    channels((False, False))
                with loops.otherwise():
                    channels(padded)
            else:
                channels(padded)

    def lower(self, attributes: Conv2dAttributes, inputs: Specs, output: TensorSpec) -> Any:
        return super().lower(attributes, inputs, output).with_attr("zero_point", attributes.zero_point)

    def macs(self, attributes: Conv2dAttributes, inputs: Specs, output: TensorSpec) -> int:
        # Kernels that were spread out for an engine hold zeros that are no work.
        each = inputs[1].elements // inputs[1].shape[0]
        return output.elements * (each if attributes.macs_per_output is None else attributes.macs_per_output)


def _last(shape: Sequence[int]) -> tuple[int, ...]:
    """A shape with channels second as one with channels last."""
    return (shape[0], *shape[2:], shape[1])


def pixel_place(loops: Loops, pixel: Any, shape: tuple[int, int, int]) -> tuple[Any, Any, Any]:
    """Image, row and column of a pixel, by its number among those of images, rows and columns."""
    n, height, width = shape
    batch = loops.bind("batch", tirx.truncdiv(pixel, i32(height * width))) if n > 1 else i32(0)
    return batch, *loops.split(tirx.truncmod(pixel, i32(height * width)) if n > 1 else pixel, width, "oy", "ox")


@contextmanager
def tap_loops(
    loops: Loops,
    moves: tuple[Window, Window],
    size: Sequence[int],
    place: tuple[Any, Any],
    padded: tuple[bool, bool],
) -> Iterator[tuple[Any, Any, Any, Any]]:
    """Row and column of every tap of a window, and of the input there; where windows are padded, only of the input."""
    rows, columns = moves

    def inside(position: Any, extent: int, needed: bool) -> Any:
        return loops.when(tirx.all(position >= 0, position < extent)) if needed else nullcontext()

    with loops.loop("ky", rows.kernel) as ky:
        iy = loops.bind("iy", rows.position(place[0], ky))
        with inside(iy, size[0], padded[0]), loops.loop("kx", columns.kernel) as kx:
            ix = loops.bind("ix", columns.position(place[1], kx))
            with inside(ix, size[1], padded[1]):
                yield ky, kx, iy, ix
