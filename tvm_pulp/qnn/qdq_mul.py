"""Element-wise product of two 8-bit tensors of a quantize/dequantize graph, single precision inside.

y = round((a - zero_point_a) * (b - zero_point_b) * scale), from low to high, plus zero_point
"""

from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.elementwise import Elementwise
from tvm_pulp.qnn.operator import Attributes, call, register
from tvm_pulp.qnn.real import round_within
from tvm_pulp.qnn.tiles import elementwise


@register(
    "qdq_mul",
    attributes="dtype high low scale zero_point zero_point_a zero_point_b",
    operands="a b",
    tile=elementwise(2),
    single_precision=True,
)
class QdqMul(Elementwise):
    def value(self, attributes: Attributes, *operands: Any) -> Any:
        exact = (operands[0] - attributes["zero_point_a"]) * (operands[1] - attributes["zero_point_b"])
        scaled = exact.astype(np.float32) * np.float32(attributes["scale"])
        return round_within(scaled, attributes["low"], attributes["high"]) + attributes["zero_point"]

    def expression(self, attributes: Attributes, *operands: Any) -> Any:
        exact = (operands[0] - attributes["zero_point_a"]) * (operands[1] - attributes["zero_point_b"])
        scaled = exact.astype("float32") * tirx.const(attributes["scale"], "float32")
        rounded = call("round_within", scaled, attributes["low"], attributes["high"]) + attributes["zero_point"]
        return rounded.astype(attributes["dtype"])
