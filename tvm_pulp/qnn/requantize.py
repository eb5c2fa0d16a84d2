"""Requantization on its own: x scaled, shifted and clipped. Per-channel constants run along `axis`."""

from typing import Any

from tvm_pulp.qnn.elementwise import Elementwise
from tvm_pulp.qnn.operator import Attributes, less, register
from tvm_pulp.qnn.tiles import elementwise


@register("requantize", attributes="axis zero_point requant*", operands="x", tile=elementwise(1))
class Requantize(Elementwise):
    def value(self, attributes: Attributes, *operands: Any) -> Any:
        return less(operands[0], attributes["zero_point"])
