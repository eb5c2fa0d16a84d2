"""Integer GELU by a clipped second-order polynomial, requantized.

d = min(|x|, -b) + b;  L = sign(x) * (one - d*d);  y = x * ((one + L) >> 1)
"""

from typing import Any

import numpy as np

from tvm_pulp.qnn.elementwise import Elementwise
from tvm_pulp.qnn.operator import Attributes, call, register
from tvm_pulp.qnn.tiles import elementwise


@register("gelu", attributes="b one requant*", operands="x", tile=elementwise(1))
class Gelu(Elementwise):
    def value(self, attributes: Attributes, *operands: Any) -> Any:
        (x,), b, one = operands, attributes["b"], attributes["one"]
        d = np.minimum(np.abs(x), -b) + b
        return x * ((one + np.sign(x) * (one - d * d)) >> 1)

    def expression(self, attributes: Attributes, *operands: Any) -> Any:
        return call("gelu", *operands, attributes["b"], attributes["one"])
