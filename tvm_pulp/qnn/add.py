"""Element-wise sum of two tensors whose scales may differ.

Form `plain`: each operand is optionally requantized first (`requant_a`, `requant_b`; the saturation in between is
part of the meaning), then summed, then requantized. Form `half_even`: (a * mul_a + b * mul_b) / 2^shift, rounded once,
ties to even; the requantization names the zero point and range and has no tensors. Form `tflite`: both operands are
brought to a common scale with `left_shift` extra bits, summed (`subtract`: subtracted) and requantized, as TFLite's
reference kernel does.
Operands: a, b, then the tensors of requant_a, requant_b, requant in that order.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tvm_pulp.qnn import fixed_point
from tvm_pulp.qnn.elementwise import broadcast_index, broadcast_shape, over
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Requant, Specs, TensorSpec, call, i32, register
from tvm_pulp.qnn.tiles import elementwise

# Extra precision of TFLite's common scale, for 8-bit and 16-bit operands.
LEFT_SHIFT, LEFT_SHIFT_16 = 20, 15


def left_shift(attributes: Attributes) -> int:
    return int(attributes.get("left_shift", LEFT_SHIFT))


def _centred(attributes: Attributes, a: Any, b: Any) -> tuple[Any, Any]:
    """Both operands without their zero points, in numpy or TIR."""
    return a - attributes["zero_point_a"], b - attributes["zero_point_b"]


def rules(attributes: Attributes) -> list[Requant]:
    """Requantization of a, of b, of the sum."""
    return [Requant.of(attributes, prefix) for prefix in ("requant_a", "requant_b", "requant")]


def split(attributes: Attributes, tensors: Sequence[Any]) -> list[list[Any]]:
    """Hand out the requantization tensors to the three rules."""
    handed, rest = [], list(tensors)
    for rule in rules(attributes):
        count = 0 if attributes["form"] == "half_even" else rule.operands
        handed.append(rest[:count])
        rest = rest[count:]
    return handed


@register(
    "add",
    attributes=("exponents form multipliers shift subtract zero_point_a zero_point_b requant* requant_a* requant_b*"),
    operands="a b",
    tile=elementwise(2),
)
class Add(Operator):
    def rounds_by_tensors(self, attributes: Attributes) -> bool:
        return bool(attributes["form"] == "plain")

    def infer(self, attributes: Attributes, inputs: Specs) -> TensorSpec:
        return TensorSpec(broadcast_shape(inputs[0].shape, inputs[1].shape), Requant.of(attributes).out_dtype)

    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
        rule_a, rule_b, rule = rules(attributes)
        of_a, of_b, of_sum = split(attributes, inputs[2:])
        if attributes["form"] == "half_even":
            a, b = _centred(attributes, *(x.astype(np.int64) for x in inputs[:2]))
            total = a * attributes["multipliers"][0] + b * attributes["multipliers"][1]
            value = fixed_point.shift_half_even(total, attributes["shift"]) + rule.zero_point
            return np.clip(value, rule.low, rule.high).astype(rule.out_dtype)
        if attributes["form"] == "tflite":
            centred = _centred(attributes, *(x.astype(np.int64) for x in inputs[:2]))
            left, right = (
                fixed_point.multiply(x << left_shift(attributes), mul, exponent)
                for x, mul, exponent in zip(centred, attributes["multipliers"], attributes["exponents"], strict=True)
            )
            return rule.apply(left - right if attributes["subtract"] else left + right, of_sum)
        a, b = rule_a.apply(inputs[0], of_a), rule_b.apply(inputs[1], of_b)
        return rule.apply(a.astype(np.int64) + b.astype(np.int64), of_sum)

    def body(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:
        (rule_a, rule_b, rule) = rules(attributes)
        data = list(inputs[:2])
        if all(s.shape == output.shape for s in data) and all(s.elements == 1 for s in inputs[2:]):
            output, data = output.flat, [s.flat for s in data]
        source_a, source_b = loops.buffers("a b", data)
        names = ("mul_a", "add_a") * bool(rule_a.operands) + ("mul_b", "add_b") * bool(rule_b.operands) + ("mul", "add")
        of_a, of_b, of_sum = split(attributes, [loops.buffer(n, s) for n, s in zip(names, inputs[2:], strict=False)])
        y = loops.buffer("y", output)
        with over(loops, output.shape) as indices:
            left = i32(source_a[tuple(broadcast_index(data[0].shape, indices))])
            right = i32(source_b[tuple(broadcast_index(data[1].shape, indices))])
            if attributes["form"] == "half_even":
                a, b = _centred(attributes, left, right)
                terms = (a, attributes["multipliers"][0], b, attributes["multipliers"][1], attributes["shift"])
                result = call("add_half_even", *terms, rule.zero_point, rule.low, rule.high).astype(output.dtype)
            elif attributes["form"] == "tflite":
                centred, factor = _centred(attributes, left, right), 1 << left_shift(attributes)
                scales = zip(centred, attributes["multipliers"], attributes["exponents"], strict=True)
                left, right = (call("scale_tflite", value * factor, mul, exponent) for value, mul, exponent in scales)
                result = rule.expression(left - right if attributes["subtract"] else left + right, of_sum, indices[-1])
            else:
                left = i32(rule_a.expression(left, of_a, indices[-1]))
                right = i32(rule_b.expression(right, of_b, indices[-1]))
                result = rule.expression(left + right, of_sum, indices[-1])
            loops.store(y, indices, result)
