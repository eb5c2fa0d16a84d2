"""The ways an array runs a layer: what each tile loads, which job it starts, what the cores add before and after."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tvm_pulp.planning.tiling.cost.core_step import core_step
from tvm_pulp.qnn.conv2d import Conv2dAttributes
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma import Box, Kernel, Local, Recipe, Step, TileAxis
from tvm_pulp.uma.windows import InputSpan, unfolding
from uma_backends.conv_array.arithmetic.requantization import MAX_PADDING, Padding
from uma_backends.conv_array.forms.array_form import ACTIVATION_SLACK, ArrayContext, ArrayForm
from uma_backends.conv_array.modes import Mode, pads_wrongly


@lru_cache(maxsize=4096)
def fold_rows(count: int, height: int, width: int, *, padded: bool = True) -> tuple[int, int]:
    """Rows of a matrix as a picture of few subtiles: exact factors, or padded to full lines where that may be."""
    best = (-(-count // width), width) if padded and count > width else (1, count)
    cost = -(-best[0] // height) * -(-best[1] // width)
    for h in range(1, count + 1):
        if count % h == 0:
            w = count // h
            subtiles = -(-h // height) * -(-w // width)
            if subtiles < cost or (subtiles == cost and best[0] * best[1] > count):
                best, cost = (h, w), subtiles
    return best


def rows_of(rows: int, columns: int, count: int, box: Box, shape: tuple[int, ...]) -> tuple[int, int]:
    """Rows of a tile as a picture for subtiles of so many rows and columns.

    Rows behind its own are read only where no others follow, which somebody may be making meanwhile.
    """
    at_end = all(a + n == extent for a, n, extent in zip(box.start[:-1], box.size[:-1], shape[:-1], strict=True))
    return fold_rows(count, rows, columns, padded=at_end)


def channel_axis(form: ArrayForm, axis: int) -> TileAxis:
    """The array computes a subtile of output channels at a time; fewer take as long and are for little L1.

    Groups that are multiplied together stay together: they are what a tile reads.
    """
    groups = int(form.layer.attributes.get("groups", 1))
    if groups > 1:
        together = form.layer.outputs[0].spec.shape[axis] // groups * form.groups_at_once
        return TileAxis(axis, together, limit=together)
    return TileAxis(axis, form.context.output_channels, least=4)


def _rows_as_picture(form: ArrayForm, depth: int, box: Box) -> tuple[int, Local, Any]:
    """Rows of a matrix folded into a picture: bytes behind the operand that fill it, the array's results, its job."""
    channels, count = box.size[-1], box.elements // box.size[-1]
    h, w = rows_of(form.context.rows, form.context.columns, count, box, form.layer.outputs[0].spec.shape)
    extra = h * w - count
    raw = Local("raw", TensorSpec(box.size, form.raw_dtype), extra * channels * form.arithmetic.output_bits // 8)
    return extra * depth, raw, form.array_job(h, w, depth, channels)


@dataclass(frozen=True)
class DenseForm(ArrayForm):
    """A matrix product as a 1x1 convolution; rows are folded into a picture."""

    def axes(self) -> tuple[TileAxis, ...]:
        shape = self.layer.outputs[0].spec.shape
        axes, inner = [channel_axis(self, len(shape) - 1)], 1
        for axis in reversed(range(len(shape) - 1)):
            step = self.context.row_step // math.gcd(self.context.row_step, inner)
            axes.insert(1, TileAxis(axis, step, least=1) if step > 1 else TileAxis(axis))
            inner *= shape[axis]
        return tuple(axes)

    def recipe(self, box: Box) -> Recipe:
        x = self.layer.inputs[0]
        source_box = Box((*box.start[:-1], 0), (*box.size[:-1], x.spec.shape[-1]))
        fill, raw, job = _rows_as_picture(self, x.spec.shape[-1], box)
        before, source = self.source(source_box, ACTIVATION_SLACK + fill, fill)
        loads, step = self.job_steps(job, box.start[-1], source, raw)
        return self.assemble([*before, *loads], step, raw, box)


@dataclass(frozen=True)
class PointwiseForm(ArrayForm):
    """1x1 convolution; strides are strides of the input pointer."""

    def axes(self) -> tuple[TileAxis, ...]:
        rows, columns = self.context.rows, self.context.columns
        return (TileAxis(1, rows, least=1), channel_axis(self, 3), TileAxis(2, columns), TileAxis(0, limit=1))

    def recipe(self, box: Box) -> Recipe:
        x, (sh, sw) = self.layer.inputs[0], Conv2dAttributes.of(self.layer).strides
        width, (first, channels_in) = x.spec.shape[2], self.channels_read(box)
        # Pixels behind the last one that is read come along: whole lines are one run of bytes, and may lie in L1.
        rows, columns = (box.size[1] - 1) * sh + 1, min(box.size[2] * sw, width - box.start[2] * sw)
        source_box = Box(
            (box.start[0], box.start[1] * sh, box.start[2] * sw, first), (box.size[0], rows, columns, channels_in)
        )
        before, source = self.source(source_box, ACTIVATION_SLACK)
        raw = Local("raw", TensorSpec(box.size, self.raw_dtype))
        strides = {"input_pixel_stride": sw * channels_in, "input_row_stride": sh * columns * channels_in}
        job = self.array_job(box.size[1], box.size[2], channels_in, box.size[3], **strides)
        loads, step = self.job_steps(job, box.start[3], source, raw)
        return self.assemble([*before, *loads], step, raw, box)


@dataclass(frozen=True)
class Direct3x3Form(ArrayForm):
    """3x3 convolution, dense or depthwise. With a stride the array computes every position and the cores keep some.

    A zero point other than zero cannot come from the array's padding: the cores write the border in L1.
    """

    def axes(self) -> tuple[TileAxis, ...]:
        is_depthwise = self.mode is Mode.DEPTHWISE_3X3
        channels = TileAxis(3, self.context.depthwise_channels) if is_depthwise else channel_axis(self, 3)
        return (TileAxis(1), channels, TileAxis(2), TileAxis(0, limit=1))

    def pad(
        self, steps: list[Step], source: Local, rows: InputSpan, columns: InputSpan, size: tuple[int, int]
    ) -> Local:
        """The picture with a border, which the cores write, of this size."""
        attributes = {
            "before": [0, rows.before, columns.before, 0],
            "after": [0, rows.after, columns.after, 0],
            "value": self.arithmetic.zero_point,
        }
        count, *_, channels = source.spec.shape
        padded = Local("padded", TensorSpec((count, *size, channels), source.spec.dtype), ACTIVATION_SLACK)
        steps.append(Kernel("pad", attributes, (source,), (padded,)))
        return padded

    def _border_counts(self, pads: tuple[int, int, int, int]) -> bool:
        """Tell if pixels outside of the image meet taps that are not zero."""
        top, bottom, left, right = pads
        taps, size = self.arithmetic.weights, 3
        rows, columns = (taps[:, :top], taps[:, size - bottom :]), (taps[:, :, :left], taps[:, :, size - right :])
        return any(bool(part.any()) for part in (*rows, *columns))

    def recipe(self, box: Box) -> Recipe:
        sh, sw = Conv2dAttributes.of(self.layer).strides
        # Positions of the stride-1 result that this tile needs.
        full_h, full_w = (box.size[1] - 1) * sh + 1, (box.size[2] - 1) * sw + 1
        before, source, rows, columns = self.picture(box, ACTIVATION_SLACK)
        pads = (rows.before, rows.after, columns.before, columns.after)
        breaks = breaks_last_subtile(self.context, full_h, full_w, pads)
        has_value = self.arithmetic.zero_point != 0 and self._border_counts(pads)
        by_cores = any(pads) and (has_value or max(pads) > MAX_PADDING or breaks)
        padding = Padding(rows.before, rows.after, columns.before, columns.after)
        if by_cores:
            padding = Padding()
            source = self.pad(before, source, rows, columns, (full_h + 2, full_w + 2))
        shape = (box.size[0], full_h, full_w, box.size[3])
        raw = Local("raw", TensorSpec(shape, self.raw_dtype))
        job = self.array_job(full_h, full_w, source.spec.shape[3], box.size[3], padding=padding)
        loads, step = self.job_steps(job, box.start[3], source, raw)
        if (sh, sw) == (1, 1):
            return self.assemble([*before, *loads], step, raw, box)
        requantized = self.assemble_taken([*before, *loads], step, raw, box, (sh, sw))
        if requantized is not None:
            return requantized
        kept = Local("kept", TensorSpec(box.size, raw.spec.dtype))
        keep = {"begin": [0] * 4, "stride": [1, sh, sw, 1], "size": list(box.size)}
        recipe = self.assemble([*before, *loads], step, kept, box)
        position = recipe.steps.index(step) + 1
        discard = core_step(Kernel("slice", keep, (raw,), (kept,)), self.context.costs)
        steps = (*recipe.steps[:position], discard, *recipe.steps[position:])
        return Recipe(steps)


def breaks_last_subtile(context: ArrayContext, height: int, width: int, pads: tuple[int, int, int, int]) -> bool:
    """Two padded pixels behind a last subtile of one pixel: the hardware pads wrongly."""
    sides = ((height, context.rows, pads[1]), (width, context.columns, pads[3]))
    return any(pads_wrongly(*side) for side in sides)


@dataclass(frozen=True)
class Im2colForm(ArrayForm):
    """Any kernel: the cores lay windows out as rows, the array multiplies them as a 1x1 convolution."""

    def axes(self) -> tuple[TileAxis, ...]:
        return (TileAxis(1), channel_axis(self, 3), TileAxis(2), TileAxis(0, limit=1))

    def recipe(self, box: Box) -> Recipe:
        before, source, rows, columns = self.picture(box, 0)
        _, kh, kw, _ = self.layer.inputs[1].spec.shape
        depth = kh * kw * source.spec.shape[3]
        fill, raw, job = _rows_as_picture(self, depth, box)
        windows = TensorSpec((*box.size[:3], depth), source.spec.dtype)
        matrix = Local("windows", windows, ACTIVATION_SLACK + fill, fill=fill)
        pads = (rows.before, columns.before, rows.after, columns.after)
        how = unfolding(self.layer, pads) | {"zero_point": self.arithmetic.zero_point}
        unfold = Kernel("im2col", how, (source,), (matrix,))
        loads, step = self.job_steps(job, box.start[3], matrix, raw)
        return self.assemble([*before, unfold, *loads], step, raw, box)
