"""Leaky rectifier of bytes: x where it is not negative, else (x * slope + 64) >> 7, rounded half up."""

from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.elementwise import Elementwise
from tvm_pulp.qnn.loops import i32
from tvm_pulp.qnn.operator import Attributes, register
from tvm_pulp.qnn.tiles import elementwise


@register("leaky8", attributes="slope", operands="x", tile=elementwise(1), result="int8")
class Leaky8(Elementwise):
    def value(self, attributes: Attributes, *operands: Any) -> Any:
        (x,) = operands
        return np.where(x >= 0, x, (x * attributes["slope"] + 64) >> 7)

    def expression(self, attributes: Attributes, *operands: Any) -> Any:
        (x,) = operands
        scaled = tirx.shift_right(x * attributes["slope"] + 64, i32(7))
        return tirx.Select(x >= 0, x, scaled).astype("int8")
