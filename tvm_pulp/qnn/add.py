"""Element-wise sum of two tensors whose scales may differ.

Form `plain`: each operand is optionally requantized first (`requant_a`, `requant_b`; the saturation in between is
part of the meaning), then summed, then requantized. Form `half_even`: (a * mul_a + b * mul_b) / 2^shift, rounded once,
ties to even; the requantization names the zero point and range and has no tensors. Form `tflite`: both operands are
brought to a common scale with `left_shift` extra bits, summed (`subtract`: subtracted) and requantized, as TFLite's
reference kernel does.
Operands: a, b, then the tensors of requant_a, requant_b, requant in that order.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tvm_pulp.qnn.either import add_half_even, scale_tflite, whole
from tvm_pulp.qnn.elementwise import broadcast_index, broadcast_shape, over
from tvm_pulp.qnn.operator import Arrays, Loops, Operator, Requant, Specs, TensorSpec, i32, register
from tvm_pulp.qnn.record import Requantized
from tvm_pulp.qnn.tiles import elementwise
from tvm_pulp.quick_records import quick_record

# Extra precision of TFLite's common scale, for 8-bit and 16-bit operands.
LEFT_SHIFT, LEFT_SHIFT_16 = 20, 15


@quick_record(kw_only=True, slots=False)
class AddAttributes(Requantized):
    """Rules of the operands belong to `plain`, multipliers and zero points to the other forms."""

    form: str = "plain"
    requant_a: Requant = Requant()
    requant_b: Requant = Requant()
    zero_point_a: int = 0
    zero_point_b: int = 0
    multipliers: tuple[int, int] = (1, 1)
    exponents: tuple[int, int] = (0, 0)
    shift: int = 0
    left_shift: int = LEFT_SHIFT
    subtract: bool = False


def rules(attributes: AddAttributes) -> list[Requant]:
    """Requantization of a, of b, of the sum."""
    return [Requant.of(attributes, prefix) for prefix in ("requant_a", "requant_b", "requant")]


def split(attributes: AddAttributes, tensors: Sequence[Any]) -> list[list[Any]]:
    """Hand out the requantization tensors to the three rules."""
    handed, rest = [], list(tensors)
    for rule in rules(attributes):
        count = 0 if attributes.form == "half_even" else rule.operands
        handed.append(rest[:count])
        rest = rest[count:]
    return handed


@register(
    "add",
    attributes=AddAttributes,
    operands="a b",
    tile=elementwise(2),
)
class Add(Operator[AddAttributes]):
    def rounds_by_tensors(self, attributes: AddAttributes) -> bool:
        return bool(attributes.form == "plain")

    def infer(self, attributes: AddAttributes, inputs: Specs) -> TensorSpec:
        return TensorSpec(broadcast_shape(inputs[0].shape, inputs[1].shape), Requant.of(attributes).out_dtype)

    def reference(self, attributes: AddAttributes, inputs: Arrays) -> np.ndarray:
        def rounded(rule: Requant, value: Any, tensors: list[Any]) -> Any:
            return rule.apply(value, tensors)

        a, b = (x.astype(np.int64) for x in inputs[:2])
        total = _sum(attributes, a, b, split(attributes, inputs[2:]), rounded)
        return np.asarray(total.astype(self.result_type(attributes)))

    def body(self, loops: Loops, attributes: AddAttributes, inputs: Specs, output: TensorSpec) -> None:
        (rule_a, rule_b, _), data = rules(attributes), list(inputs[:2])
        if all(s.shape == output.shape for s in data) and all(s.elements == 1 for s in inputs[2:]):
            output, data = output.flat, [s.flat for s in data]
        sources = loops.buffers("a b", data)
        names = ("mul_a", "add_a") * bool(rule_a.operands) + ("mul_b", "add_b") * bool(rule_b.operands) + ("mul", "add")
        of_sides = split(attributes, [loops.buffer(n, s) for n, s in zip(names, inputs[2:], strict=False)])
        y = loops.buffer("y", output)
        with over(loops, output.shape) as indices:

            def rounded(rule: Requant, value: Any, tensors: list[Any]) -> Any:
                return rule.expression(value, tensors, indices[-1])

            every = zip(sources, data, strict=True)
            a, b = (i32(source[tuple(broadcast_index(spec.shape, indices))]) for source, spec in every)
            loops.store(y, indices, _sum(attributes, a, b, of_sides, rounded).astype(output.dtype))


def _sum(attributes: AddAttributes, a: Any, b: Any, of_sides: list[list[Any]], rounded: Callable[..., Any]) -> Any:
    """The sum of two values as its form says, in numpy or TIR; `rounded` applies a rule with its tensors."""
    (rule_a, rule_b, rule), (of_a, of_b, of_sum), form = rules(attributes), of_sides, attributes.form
    if form == "plain":
        return rounded(rule, whole(rounded(rule_a, a, of_a)) + whole(rounded(rule_b, b, of_b)), of_sum)
    a, b = a - attributes.zero_point_a, b - attributes.zero_point_b
    if form == "half_even":
        mul_a, mul_b = attributes.multipliers
        return add_half_even(a, mul_a, b, mul_b, attributes.shift, rule.zero_point, rule.low, rule.high)
    sides = zip((a, b), attributes.multipliers, attributes.exponents, strict=True)
    left, right = (scale_tflite(value * (1 << attributes.left_shift), mul, exponent) for value, mul, exponent in sides)
    return rounded(rule, left - right if attributes.subtract else left + right, of_sum)
