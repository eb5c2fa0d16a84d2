"""Integer hardswish: `x * (clip(x + three, 0, six) * one_over_six)`, requantized."""

from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.elementwise import Elementwise
from tvm_pulp.qnn.operator import Attributes, register
from tvm_pulp.qnn.tiles import elementwise


@register("hardswish", attributes="one_over_six six three requant*", operands="x", tile=elementwise(1))
class Hardswish(Elementwise):
    def value(self, attributes: Attributes, *operands: Any) -> Any:
        (x,) = operands
        return x * (np.clip(x + attributes["three"], 0, attributes["six"]) * attributes["one_over_six"])

    def expression(self, attributes: Attributes, *operands: Any) -> Any:
        (x,) = operands
        return x * (tirx.min(tirx.max(x + attributes["three"], 0), attributes["six"]) * attributes["one_over_six"])
