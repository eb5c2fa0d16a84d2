"""Sum of two layers' results before they are rounded: 32-bit accumulators, or bytes, each in units of its own.

An accumulator is shifted left as far as it has room, multiplied per channel, and the upper half of the product kept; a
byte is multiplied once its zero point is removed. Both are then the result in fixed point with `fraction` bits, and
their sum is rounded once, half up. The rule `requant` names the zero point and the range and has no tensors.
Operands: a, b, then the multipliers of a and of b, one or one per channel of `axis`.
"""

import numpy as np

from tvm_pulp.qnn.elementwise import over
from tvm_pulp.qnn.operator import Arrays, Loops, Operator, Specs, TensorSpec, call, i32, i64, register
from tvm_pulp.qnn.record import Requantized
from tvm_pulp.qnn.requant import Requant, along
from tvm_pulp.qnn.tiles import elementwise
from tvm_pulp.quick_records import quick_record

SIDES = ("a", "b")


@quick_record(kw_only=True, slots=False)
class AddAccumulatorsAttributes(Requantized):
    """Shifts belong to accumulators, zero points to bytes."""

    axis: int
    fraction: int
    left_a: int = 0
    left_b: int = 0
    zero_point_a: int = 0
    zero_point_b: int = 0


@register(
    "add_accumulators",
    attributes=AddAccumulatorsAttributes,
    operands="a b mul_a mul_b",
    tile=elementwise(2),
)
class AddAccumulators(Operator[AddAccumulatorsAttributes]):
    def rounds_by_tensors(self, attributes: AddAccumulatorsAttributes) -> bool:
        return False

    def reference(self, attributes: AddAccumulatorsAttributes, inputs: Arrays) -> np.ndarray:
        rule, total = Requant.of(attributes), np.int64(0)
        for side, x, mul in zip(SIDES, inputs[:2], inputs[2:], strict=True):
            factor = along(mul.astype(np.int64), attributes.axis, x.ndim)
            if x.dtype == np.int32:
                total = total + ((x.astype(np.int64) << attributes[f"left_{side}"]) * factor >> 32)
            else:
                total = total + (x.astype(np.int64) - attributes[f"zero_point_{side}"]) * factor
        fraction = attributes.fraction
        rounded = (total + (1 << (fraction - 1)) >> fraction) + rule.zero_point
        return np.clip(rounded, rule.low, rule.high).astype(rule.out_dtype)

    def body(self, loops: Loops, attributes: AddAccumulatorsAttributes, inputs: Specs, output: TensorSpec) -> None:
        rule, axis = Requant.of(attributes), attributes.axis % len(output.shape)
        data = [loops.buffer(side, spec) for side, spec in zip(SIDES, inputs, strict=False)]
        factors = [loops.buffer(f"mul_{side}", spec) for side, spec in zip(SIDES, inputs[2:], strict=True)]
        y, fraction = loops.buffer("y", output), attributes.fraction
        with over(loops, output.shape) as indices:
            total = i32(1 << (fraction - 1))
            for side, x, spec, mul, several in zip(SIDES, data, inputs, factors, inputs[2:], strict=False):
                factor = mul[indices[axis] if several.elements > 1 else i32(0)]
                value = i32(x[tuple(indices)])
                if spec.dtype == "int32":
                    total = total + i32((i64(value * i32(1 << attributes[f"left_{side}"])) * i64(factor)) >> i64(32))
                else:
                    total = total + (value - attributes[f"zero_point_{side}"]) * factor
            rounded = (total >> i32(fraction)) + rule.zero_point
            loops.store(y, indices, call("clip", rounded, rule.low, rule.high).astype(output.dtype))
