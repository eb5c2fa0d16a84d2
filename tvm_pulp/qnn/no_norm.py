"""Affine replacement of a normalization, element by element: clip(((x * weight + bias) * mul) // D).

Operands: x, weight (broadcast), bias (broadcast). D = 2^shift floors.
"""

from typing import Any

from tvm import tirx

from tvm_pulp.qnn.elementwise import Elementwise
from tvm_pulp.qnn.operator import Attributes, call, i64, register
from tvm_pulp.qnn.rows import clip_levels, levels_dtype
from tvm_pulp.qnn.tiles import elementwise


@register("no_norm", attributes="levels mul shift", operands="x weight bias", tile=elementwise(3))
class NoNorm(Elementwise):
    def result_type(self, attributes: Attributes) -> str:
        return levels_dtype(attributes["levels"])

    def value(self, attributes: Attributes, *operands: Any) -> Any:
        x, weight, bias = operands
        return clip_levels(((x * weight + bias) * attributes["mul"]) >> attributes["shift"], attributes["levels"])

    def expression(self, attributes: Attributes, *operands: Any) -> Any:
        x, weight, bias = (i64(value) for value in operands)
        value = tirx.shift_right((x * weight + bias) * i64(attributes["mul"]), i64(attributes["shift"]))
        half = attributes["levels"] // 2
        return call("clip_wide", value, -half, half - 1).astype(self.result_type(attributes))
