"""GroupNorm and InstanceNorm of a quantize/dequantize graph: 8-bit images in and out, single precision inside.

Operands: x[batch, channels, ...], weight[channels], bias[channels] (float32, in units of the result). Per group of
channels, with n values:

    a = n * x - sum(x);  spread = n * sum(x^2) - sum(x)^2
    y = round(a * gain / sqrt(spread * statistic + epsilon) * weight + bias) + zero_point
"""

import math

import numpy as np

from tvm_pulp.qnn.either import rounded
from tvm_pulp.qnn.operator import Arrays, Loops, Operator, Specs, TensorSpec, i32, i64, register
from tvm_pulp.qnn.qdq_norm import FactorAttributes, factor_of
from tvm_pulp.qnn.record import Rounded
from tvm_pulp.quick_records import quick_record


@quick_record(kw_only=True, slots=False)
class GroupNormAttributes(FactorAttributes, Rounded):
    """How many groups the channels are."""

    groups: int


@register(
    "group_norm",
    attributes=GroupNormAttributes,
    operands="x weight bias",
    single_precision=True,
)
class GroupNorm(Operator[GroupNormAttributes]):
    def reference(self, attributes: GroupNormAttributes, inputs: Arrays) -> np.ndarray:
        x, weight, bias = inputs
        batch, channels = x.shape[:2]
        groups = attributes.groups
        grouped = x.astype(np.int64).reshape(batch, groups, channels // groups, -1)
        n = grouped.shape[2] * grouped.shape[3]
        total = grouped.sum((2, 3), keepdims=True)
        spread = n * (grouped * grouped).sum((2, 3), keepdims=True) - total * total
        slope = factor_of(attributes, spread) * weight.reshape(1, groups, -1, 1)
        value = (n * grouped - total).astype(np.float32) * slope + bias.reshape(1, groups, -1, 1)
        return np.asarray(rounded(value, attributes, of_result=True).reshape(x.shape))

    def body(self, loops: Loops, attributes: GroupNormAttributes, inputs: Specs, output: TensorSpec) -> None:
        groups = attributes.groups
        batch, channels = inputs[0].shape[:2]
        pixels, each = math.prod(inputs[0].shape[2:]), channels // groups
        n = each * pixels
        flat = TensorSpec((batch * groups, each, pixels), inputs[0].dtype)
        x, weight, bias = loops.buffer("x", flat), loops.buffer("weight", inputs[1]), loops.buffer("bias", inputs[2])
        y = loops.buffer("y", TensorSpec(flat.shape, output.dtype))
        with loops.parallel("group", batch * groups) as group:
            total, squares = loops.scalar("total", 0), loops.scalar("squares", 0)
            with loops.loop("channel", each) as channel, loops.loop("pixel", pixels) as pixel:
                element = loops.bind("element", i32(x[group, channel, pixel]))
                total.set(total.value + element)
                squares.set(squares.value + element * element)
            spread = i64(n) * i64(squares.value) - i64(total.value) * i64(total.value)
            factor = loops.bind("factor", factor_of(attributes, spread))
            first = loops.bind("first", (group % i32(groups) if batch > 1 else group) * i32(each))
            with loops.loop("channel", each) as channel:
                slope = loops.bind("slope", factor * weight[first + channel])
                with loops.loop("pixel", pixels) as pixel:
                    a = i32(n) * i32(x[group, channel, pixel]) - total.value
                    value = a.astype("float32") * slope + bias[first + channel]
                    loops.store(y, [group, channel, pixel], rounded(value, attributes, of_result=True))
