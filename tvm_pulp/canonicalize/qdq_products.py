"""Pass: products of two 8-bit tensors are rounded in single precision.

Expects dialect operators of a quantize/dequantize graph, transposes folded. A product of two bytes is exact in single
precision, and so is rounding half to even: one multiplication and one conversion instead of 64-bit arithmetic.
"""

import math
from typing import Any

import numpy as np

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, require, spec_of
from tvm_pulp.qnn.record import PairAttributes


class QdqProducts(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        require(qnn.is_qnn(value, "mul") and rounds_to_bytes(value))
        require({spec_of(a).dtype for a in value.args[:2]} <= set(qnn.BYTES))
        return qnn.emit("qdq_mul", value.args[:2], product_attributes(value))


def rounds_to_bytes(product: Any, kinds: tuple[str, ...] = ("half_even", "half_up")) -> bool:
    """Tell if a product is rounded once, in one of these ways, to bytes, by one factor."""
    rule = qnn.Requant.of(qnn.attributes(product))
    return rule.kind in kinds and rule.out_dtype in qnn.BYTES and constant(product.args[2]).size == 1


def factor_of(product: Any) -> float:
    """The one factor of a requantization, in single precision."""
    mul, shift = (int(constant(a).reshape(-1)[0]) for a in product.args[2:4])
    return float(np.float32(math.ldexp(mul, -shift)))


def product_attributes(product: Any) -> dict[str, Any]:
    """Attributes of the product in single precision, from those of `mul` and its constants."""
    attributes = qnn.attributes(product, PairAttributes)
    return {
        "zero_point_a": attributes.zero_point_a,
        "zero_point_b": attributes.zero_point_b,
        "scale": factor_of(product),
        **rounding_attributes(qnn.Requant.of(attributes)),
    }


def rounding_attributes(rule: qnn.Requant) -> dict[str, Any]:
    """Attributes of what is rounded in single precision: limits without the zero point."""
    low, high = rule.low - rule.zero_point, rule.high - rule.zero_point
    return {"low": low, "high": high, "zero_point": rule.zero_point, "dtype": rule.out_dtype}
