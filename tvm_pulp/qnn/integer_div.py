"""Integer division with the PULP dialect's scaling.

One operand (`TrueIntegerDiv`): floor(x * numerator / denominator), both constants. Two operands (`IntegerDiv`):
a * numerator / (b * eta + eps): half the divisor is added with the sign of the numerator, then truncated, which rounds
half away from zero where the divisor is positive.
"""

from typing import Any

import numpy as np

from tvm_pulp.qnn.elementwise import Elementwise
from tvm_pulp.qnn.operator import Attributes, call, i64, register
from tvm_pulp.qnn.tiles import elementwise


@register("integer_div", attributes="denominator eps eta numerator operands requant*", tile=elementwise())
class IntegerDiv(Elementwise):
    def data_names(self, attributes: Attributes) -> list[str]:
        return ["x"] if attributes["operands"] == 1 else ["a", "b"]

    def value(self, attributes: Attributes, *operands: Any) -> Any:
        numerator = operands[0] * attributes["numerator"]
        if len(operands) == 1:
            return numerator // attributes["denominator"]
        divisor = operands[1] * attributes["eta"] + attributes["eps"]
        rounded = numerator + np.where(numerator < 0, -(divisor // 2), divisor // 2)
        return np.sign(rounded) * (np.abs(rounded) // np.abs(divisor)) * np.sign(divisor)

    def expression(self, attributes: Attributes, *operands: Any) -> Any:
        numerator = i64(operands[0]) * i64(attributes["numerator"])
        if len(operands) == 1:
            return call("floor_divide", numerator, i64(attributes["denominator"]))
        return call("round_divide", numerator, i64(operands[1]) * i64(attributes["eta"]) + i64(attributes["eps"]))
