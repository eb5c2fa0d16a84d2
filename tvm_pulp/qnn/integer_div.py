"""Integer division with the PULP dialect's scaling.

One operand (`TrueIntegerDiv`): floor(x * numerator / denominator), both constants. Two operands (`IntegerDiv`):
a * numerator / (b * eta + eps): half the divisor is added with the sign of the numerator, then truncated, which rounds
half away from zero where the divisor is positive.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tvm_pulp.qnn.broadcast import broadcast_shape
from tvm_pulp.qnn.elementwise import lower_elementwise
from tvm_pulp.qnn.loops import call, i64
from tvm_pulp.qnn.operator import Operator, register
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec


@register
class IntegerDiv(Operator):
    name = "integer_div"

    @staticmethod
    def infer(attributes: dict[str, Any], inputs: Sequence[TensorSpec]) -> TensorSpec:
        data = inputs[: attributes["operands"]]
        return TensorSpec(broadcast_shape(*(d.shape for d in data)), Requant.of(attributes).out_dtype)

    @staticmethod
    def reference(attributes: dict[str, Any], inputs: Sequence[np.ndarray]) -> np.ndarray:
        requant, operands = Requant.of(attributes), attributes["operands"]
        numerator = inputs[0].astype(np.int64) * attributes["numerator"]
        if operands == 1:
            quotient = numerator // attributes["denominator"]
        else:
            divisor = inputs[1].astype(np.int64) * attributes["eta"] + attributes["eps"]
            half = np.where(numerator < 0, -(divisor // 2), divisor // 2)
            rounded = numerator + half
            quotient = np.sign(rounded) * (np.abs(rounded) // np.abs(divisor)) * np.sign(divisor)
        return requant.apply(quotient, inputs[operands:])

    @staticmethod
    def lower(attributes: dict[str, Any], inputs: Sequence[TensorSpec], output: TensorSpec) -> Any:
        operands = attributes["operands"]
        numerator = i64(attributes["numerator"])

        def one(x: Any) -> Any:
            return call("floor_divide", i64(x) * numerator, i64(attributes["denominator"]))

        def two(a: Any, b: Any) -> Any:
            divisor = i64(b) * i64(attributes["eta"]) + i64(attributes["eps"])
            return call("round_divide", i64(a) * numerator, divisor)

        data = list(zip(("a", "b") if operands == 2 else ("x",), inputs, strict=False))
        compute = one if operands == 1 else two
        return lower_elementwise("integer_div", data, Requant.of(attributes), inputs[operands:], output, compute)
