"""Convolution of floats without padding, layout NCHW. Operands: x, weight[C / groups, KH, KW, O][, bias[O]].

The output channels of the weights come last: a block of them is read from neighbouring words.
"""

import math

import numpy as np

from tvm_pulp.qnn.conv2d import output_size, taps
from tvm_pulp.qnn.float_blocks import Blocks, block_start
from tvm_pulp.qnn.operator import Arrays, Loops, Operator, Specs, TensorSpec, call, register
from tvm_pulp.qnn.tiles import Box, Part, TileAxis, TileRule, Whole, axes, constants, float_window
from tvm_pulp.qnn.window_attributes import StepAttributes
from tvm_pulp.quick_records import quick_record


def _axes(whole: Whole) -> tuple[TileAxis, ...]:
    # Groups stay together.
    return axes(*((2, 1, 0, 3) if FloatConv2dAttributes.of(whole).groups == 1 else (2, 0, 3)))(whole)


def _part(whole: Whole, box: Box) -> Part:
    x, weight = whole.inputs[0].shape, whole.inputs[1].shape
    first, count = float_window(whole, box, weight[1:3])
    source = Box((box.start[0], 0, *first), (box.size[0], x[1], *count))
    filters = Box((0, 0, 0, box.start[1]), (*weight[:3], box.size[1]))
    return Part((source, filters, *constants(whole.inputs[2:], box.span(1))), whole.attributes)


@quick_record(kw_only=True, slots=False)
class FloatConv2dAttributes(StepAttributes):
    """`macs_per_output` is stated where filters hold zeros that are no work."""

    groups: int
    macs_per_output: int | None = None


@register(
    "float_conv2d",
    attributes=FloatConv2dAttributes,
    operands="x weight bias",
    tile=TileRule(_axes, _part),
)
class FloatConv2d(Operator[FloatConv2dAttributes]):
    def infer(self, attributes: FloatConv2dAttributes, inputs: Specs) -> TensorSpec:
        (n, _, height, width), (_, *kernel, outputs) = inputs[0].shape, inputs[1].shape
        return TensorSpec((n, outputs, *output_size(attributes, height, width, *kernel)), "float32")

    def reference(self, attributes: FloatConv2dAttributes, inputs: Arrays) -> np.ndarray:
        x, weight = inputs[0].astype(np.float64), inputs[1].astype(np.float64)
        groups = attributes.groups
        per_group, kh, kw, outputs = weight.shape
        oh, ow = output_size(attributes, x.shape[2], x.shape[3], kh, kw)
        total = np.zeros((x.shape[0], groups, outputs // groups, oh, ow))
        for ky, kx, met in taps(attributes, (kh, kw), (oh, ow)):
            tap = x[:, :, *met].reshape(x.shape[0], groups, per_group, oh, ow)
            total += np.einsum("ngihw,igo->ngohw", tap, weight[:, ky, kx].reshape(per_group, groups, outputs // groups))
        total = total.reshape(x.shape[0], outputs, oh, ow)
        return (total + inputs[2].reshape(-1, 1, 1) if len(inputs) > 2 else total).astype(np.float32)

    def body(self, loops: Loops, attributes: FloatConv2dAttributes, inputs: Specs, output: TensorSpec) -> None:
        groups = attributes.groups
        (sh, sw), (dh, dw) = attributes.strides, attributes.dilation
        x, weight, *bias = loops.buffers("x weight bias", (s.flat for s in inputs))
        y = loops.buffer("y", output.flat)
        (_, channels, height, width), (per_group, kh, kw, outputs) = inputs[0].shape, inputs[1].shape
        batch_count, _, oh, ow = output.shape
        mine = outputs // groups
        blocks = Blocks.best(mine, ow, per_group * kh * kw, batch_count * groups * oh)
        axes = (batch_count, groups, blocks.rows, oh, blocks.columns)
        with loops.parallel("block", math.prod(axes)) as place:
            batch, group, down, oy, across = loops.unravel("at", place, axes)
            filters = loops.bind("filters", group * mine + block_start(down, blocks.height, mine))
            ox = loops.bind("ox", block_start(across, blocks.width, ow))
            start = [bias[0][filters + i] if bias else 0 for i in range(blocks.height)]
            sums = [
                [loops.scalar("sum", start[i], "float32") for _ in range(blocks.width)] for i in range(blocks.height)
            ]
            corner = (batch * channels + group * per_group) * (height * width) + oy * (sh * width) + ox * sw
            first = loops.bind("first", corner)
            with loops.nest(("c", "ky", "kx"), (per_group, kh, kw)) as (c, ky, kx):
                tap = loops.bind("tap", first + c * (height * width) + ky * (dh * width) + kx * dw)
                left = loops.bind("factor", ((c * kh + ky) * kw + kx) * outputs + filters)
                values = [loops.bind("value", x[tap + j * sw]) for j in range(blocks.width)]
                factors = [loops.bind("factors", weight[left + i]) for i in range(blocks.height)]
                for i in range(blocks.height):
                    for j in range(blocks.width):
                        sums[i][j].set(call("fma", values[j], factors[i], sums[i][j].value, dtype="float32"))
            at = loops.bind("first_y", ((batch * outputs + filters) * oh + oy) * ow + ox)
            for i in range(blocks.height):
                for j in range(blocks.width):
                    loops.store(y, [at + (i * oh * ow + j)], sums[i][j].value)

    def macs(self, attributes: FloatConv2dAttributes, inputs: Specs, output: TensorSpec) -> int:
        # Filters of a transposed convolution's phases hold zeros that are no work.
        per_group, kh, kw, _ = inputs[1].shape
        stated = attributes.macs_per_output
        return output.elements * (per_group * kh * kw if stated is None else stated)
