"""Element-wise product of two tensors, zero points removed, requantized."""

from typing import Any

from tvm_pulp.qnn.elementwise import Elementwise
from tvm_pulp.qnn.operator import Attributes, less, register
from tvm_pulp.qnn.tiles import elementwise


@register("mul", attributes="zero_point_a zero_point_b requant*", operands="a b", tile=elementwise(2))
class Mul(Elementwise):
    def value(self, attributes: Attributes, *operands: Any) -> Any:
        a, b = operands
        return less(a, attributes["zero_point_a"]) * less(b, attributes["zero_point_b"])
