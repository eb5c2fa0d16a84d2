"""Convolution of floats without padding, layout NCHW. Operands: x, weight[C / groups, KH, KW, O][, bias[O]].

The output channels of the weights come last: a block of them is read from neighbouring words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tvm_pulp.qnn.broadcast import unravel
from tvm_pulp.qnn.conv2d import out_extent
from tvm_pulp.qnn.float_blocks import Blocks, block_start
from tvm_pulp.qnn.loops import Loops, call
from tvm_pulp.qnn.operator import Operator, register
from tvm_pulp.qnn.tensor_spec import TensorSpec


def output_size(attributes: dict[str, Any], height: int, width: int, kernel: Sequence[int]) -> tuple[int, int]:
    """Height and width of the result."""
    (sh, sw), (dh, dw) = attributes["strides"], attributes["dilation"]
    return out_extent(height, kernel[0], sh, dh, 0, 0), out_extent(width, kernel[1], sw, dw, 0, 0)


@register
class FloatConv2d(Operator):
    name = "float_conv2d"

    @staticmethod
    def infer(attributes: dict[str, Any], inputs: Sequence[TensorSpec]) -> TensorSpec:
        (n, _, height, width), (_, *kernel, outputs) = inputs[0].shape, inputs[1].shape
        return TensorSpec((n, outputs, *output_size(attributes, height, width, kernel)), "float32")

    @staticmethod
    def reference(attributes: dict[str, Any], inputs: Sequence[np.ndarray]) -> np.ndarray:
        x, weight = inputs[0].astype(np.float64), inputs[1].astype(np.float64)
        (sh, sw), (dh, dw), groups = (attributes[k] for k in ("strides", "dilation", "groups"))
        per_group, kh, kw, outputs = weight.shape
        oh, ow = output_size(attributes, x.shape[2], x.shape[3], (kh, kw))
        total = np.zeros((x.shape[0], groups, outputs // groups, oh, ow))
        for ky in range(kh):
            for kx in range(kw):
                tap = x[:, :, ky * dh : ky * dh + (oh - 1) * sh + 1 : sh, kx * dw : kx * dw + (ow - 1) * sw + 1 : sw]
                tap = tap.reshape(x.shape[0], groups, per_group, oh, ow)
                factors = weight[:, ky, kx].reshape(per_group, groups, outputs // groups)
                total += np.einsum("ngihw,igo->ngohw", tap, factors)
        total = total.reshape(x.shape[0], outputs, oh, ow)
        return (total + inputs[2].reshape(-1, 1, 1) if len(inputs) > 2 else total).astype(np.float32)

    @staticmethod
    def lower(attributes: dict[str, Any], inputs: Sequence[TensorSpec], output: TensorSpec) -> Any:
        loops, groups = Loops(), attributes["groups"]
        (sh, sw), (dh, dw) = attributes["strides"], attributes["dilation"]
        names = ("x", "weight", "bias")
        x, weight, *bias = (
            loops.buffer(n, TensorSpec((s.elements,), "float32")) for n, s in zip(names, inputs, strict=False)
        )
        y = loops.buffer("y", TensorSpec((output.elements,), "float32"))
        (_, channels, height, width), (per_group, kh, kw, outputs) = inputs[0].shape, inputs[1].shape
        batch_count, _, oh, ow = output.shape
        mine = outputs // groups
        blocks = Blocks.best(mine, ow, per_group * kh * kw, batch_count * groups * oh)
        axes = (batch_count, groups, blocks.rows, oh, blocks.columns)
        with loops.parallel("block", math.prod(axes)) as place:
            batch, group, down, oy, across = (loops.bind("at", i) for i in unravel(place, axes))
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
        return loops.finish("float_conv2d")

    @staticmethod
    def macs(attributes: dict[str, Any], inputs: Sequence[TensorSpec], output: TensorSpec) -> int:
        # Filters of a transposed convolution's phases hold zeros that are no work.
        per_group, kh, kw, _ = inputs[1].shape
        return output.elements * int(attributes.get("macs_per_output", per_group * kh * kw))
