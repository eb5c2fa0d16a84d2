"""Pass: uint8 inputs of products with constant weights become int8, which the engine multiplies.

Expects canonical form. The cores take 128 from every byte, once for all products that read it, and from the zero point.
Only where the engine can tell the product's sums exactly then.

    dense(x as uint8, w; z)   becomes   dense(lookup(x, -128...127) as int8, w; z - 128)
"""

from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant
from tvm_pulp.qnn.operator import spec_of
from tvm_pulp.qnn.requant import Requant
from uma_backends.ita.dense_digits import linear_digits
from uma_backends.ita.geometry import LONGEST_INNER

_LOWEST = -128
# Bytes by their value, moved.
MOVED = np.arange(_LOWEST, -_LOWEST).astype(np.int8)


class SignedOperands(Rewriter):
    def start(self, function: Any) -> None:
        self._signed: dict[Any, Any] = {}

    def visit(self, variable: Any, value: Any) -> Any:
        if not qnn.is_qnn(value, "dense") or spec_of(value.args[0]).dtype != "uint8":
            return value
        attributes = qnn.attributes(value)
        attributes["zero_point"] += _LOWEST
        if not _fits(value, attributes):
            return value
        x = value.args[0]
        if x not in self._signed:
            self._signed[x] = self.emit(qnn.emit("lookup", [x, relax.const(MOVED)]), f"{x.name}_signed")
        return qnn.emit("dense", [self._signed[x], *value.args[1:]], attributes)


def _fits(value: Any, attributes: dict[str, Any]) -> bool:
    """Tell if the sums of a product with int8 inputs leave the engine exactly."""
    weights, rule = constant(value.args[1]), Requant.of(attributes)
    constants = [constant(a) for a in value.args[len(value.args) - rule.operands :]]
    if weights is None or weights.dtype != np.int8 or weights.shape[1] > LONGEST_INNER:
        return False
    if rule.kind == "none" or any(c is None for c in constants):
        return False
    bias = -attributes["zero_point"] * weights.astype(np.int64).sum(axis=1)
    if attributes["has_bias"]:
        bias = bias + constant(value.args[2]).astype(np.int64)
    return not isinstance(linear_digits(weights.astype(np.int64), bias, rule, constants), str)
