"""Integers as floats: (x - zero_point) * scale.

Operands: x, scale, zero_point: scale and zero point hold one element each, or one per entry of `axis`.
"""

from typing import Any

import numpy as np

from tvm_pulp.qnn.axis_loops import over_axis
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, i32, register
from tvm_pulp.qnn.quantize import along_axis
from tvm_pulp.qnn.tiles import elementwise

TYPES = ("int8", "uint8", "int16", "uint16", "int32")


@register("dequantize", attributes="axis", operands="x scale zero_point", tile=elementwise(1), result="float32")
class Dequantize(Operator):
    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
        x, scale, zero_point = along_axis(inputs, attributes["axis"])
        difference = (x.astype(np.int64) - zero_point.astype(np.int64)).astype(np.int32)
        return np.asarray(difference.astype(np.float32) * scale.astype(np.float32))

    def body(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:

        def element(x: Any, scale: Any, zero: Any) -> Any:
            return (i32(x) - i32(zero)).astype("float32") * scale

        over_axis(loops, attributes["axis"], ("x", "scale", "zero"), inputs, output, list, element)
