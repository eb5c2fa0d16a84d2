"""GroupNorm and InstanceNorm of a quantize/dequantize graph: 8-bit images in and out, single precision inside.

Operands: x[batch, channels, ...], weight[channels], bias[channels] (float32, in units of the result). Per group of
channels, with n values:

    a = n * x - sum(x);  spread = n * sum(x^2) - sum(x)^2
    y = round(a * gain / sqrt(spread * statistic + epsilon) * weight + bias) + zero_point
"""

import math

import numpy as np

from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, call, i32, i64, register
from tvm_pulp.qnn.qdq_norm import real
from tvm_pulp.qnn.real import inverse_root, real_of, round_within


@register(
    "group_norm",
    attributes="dtype epsilon gain groups high low statistic zero_point",
    operands="x weight bias",
    single_precision=True,
)
class GroupNorm(Operator):
    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
        x, weight, bias = inputs
        batch, channels = x.shape[:2]
        groups = attributes["groups"]
        grouped = x.astype(np.int64).reshape(batch, groups, channels // groups, -1)
        n = grouped.shape[2] * grouped.shape[3]
        total = grouped.sum((2, 3), keepdims=True)
        spread = n * (grouped * grouped).sum((2, 3), keepdims=True) - total * total
        root = inverse_root(real_of(spread) * np.float32(attributes["statistic"]) + np.float32(attributes["epsilon"]))
        slope = (np.float32(attributes["gain"]) * root) * weight.reshape(1, groups, -1, 1)
        value = (n * grouped - total).astype(np.float32) * slope + bias.reshape(1, groups, -1, 1)
        zero = attributes["zero_point"]
        rounded = round_within(value, attributes["low"] - zero, attributes["high"] - zero) + zero
        return np.asarray(rounded.astype(attributes["dtype"]).reshape(x.shape))

    def body(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:
        groups = attributes["groups"]
        batch, channels = inputs[0].shape[:2]
        pixels, each = math.prod(inputs[0].shape[2:]), channels // groups
        n = each * pixels
        flat = TensorSpec((batch * groups, each, pixels), inputs[0].dtype)
        x, weight, bias = loops.buffer("x", flat), loops.buffer("weight", inputs[1]), loops.buffer("bias", inputs[2])
        y, zero = loops.buffer("y", TensorSpec(flat.shape, output.dtype)), attributes["zero_point"]
        with loops.parallel("group", batch * groups) as group:
            total, squares = loops.scalar("total", 0), loops.scalar("squares", 0)
            with loops.loop("channel", each) as channel, loops.loop("pixel", pixels) as pixel:
                element = loops.bind("element", i32(x[group, channel, pixel]))
                total.set(total.value + element)
                squares.set(squares.value + element * element)
            spread = i64(n) * i64(squares.value) - i64(total.value) * i64(total.value)
            statistic = call("real_of", spread, dtype="float32") * real(attributes["statistic"])
            root = call("inverse_root", statistic + real(attributes["epsilon"]), dtype="float32")
            factor = loops.bind("factor", real(attributes["gain"]) * root)
            first = loops.bind("first", (group % i32(groups) if batch > 1 else group) * i32(each))
            with loops.loop("channel", each) as channel:
                slope = loops.bind("slope", factor * weight[first + channel])
                with loops.loop("pixel", pixels) as pixel:
                    a = i32(n) * i32(x[group, channel, pixel]) - total.value
                    value = a.astype("float32") * slope + bias[first + channel]
                    rounded = call("round_within", value, attributes["low"] - zero, attributes["high"] - zero) + zero
                    loops.store(y, [group, channel, pixel], rounded.astype(output.dtype))
