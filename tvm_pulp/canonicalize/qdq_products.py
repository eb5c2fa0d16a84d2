"""Pass: products of two 8-bit tensors are rounded in single precision.

Expects dialect operators of a quantize/dequantize graph, transposes folded. A product of two bytes is exact in single
precision, and so is rounding half to even: one multiplication and one conversion instead of 64-bit arithmetic.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant
from tvm_pulp.qnn.operator import spec_of

_BYTES = ("int8", "uint8")


class QdqProducts(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        if not qnn.is_qnn(value, "mul"):
            return value
        attributes = qnn.attributes(value)
        rule = qnn.Requant.of(attributes)
        types = {rule.out_dtype, *(spec_of(a).dtype for a in value.args[:2])}
        if rule.kind not in ("half_even", "half_up") or not types <= set(_BYTES) or constant(value.args[2]).size != 1:
            return value
        return qnn.emit("qdq_mul", value.args[:2], product_attributes(attributes, value.args[2:]))


def product_attributes(attributes: dict[str, Any], operands: Any) -> dict[str, Any]:
    """Attributes of the product in single precision, from those of `mul` and its constants."""
    rule = qnn.Requant.of(attributes)
    mul, shift = (int(constant(a).reshape(-1)[0]) for a in operands)
    return {
        "zero_point_a": attributes["zero_point_a"],
        "zero_point_b": attributes["zero_point_b"],
        "scale": float(np.float32(math.ldexp(mul, -shift))),
        "low": rule.low - rule.zero_point,
        "high": rule.high - rule.zero_point,
        "zero_point": rule.zero_point,
        "dtype": rule.out_dtype,
    }
