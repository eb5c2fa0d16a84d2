"""Pass: uint8 inputs of products with constant weights become int8, which the engine multiplies.

Expects canonical form. The cores take 128 from every byte, once for all products that read it, and from the zero point.
Only where the engine can tell the product's sums exactly then.

    dense(x as uint8, w; z)   becomes   dense(lookup(x, -128...127) as int8, w; z - 128)

So do inputs of convolutions that become products (`products_of_windows.py`): `by_digits` of both passes tells whether
those do whose sums leave the engine digit by digit.
"""

from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, needed, require, spec_of
from tvm_pulp.qnn.conv2d import Conv2dAttributes
from tvm_pulp.qnn.record import LinearAttributes
from tvm_pulp.quick_records import changed
from uma_backends.ita.portions import linear_portions
from uma_backends.ita.requantization import rule_of_numbers

_LOWEST = -128
# Bytes by their value, moved.
MOVED = np.arange(_LOWEST, -_LOWEST).astype(np.int8)


class SignedOperands(Rewriter):
    def __init__(self, *, by_digits: bool = True) -> None:
        self.by_digits = by_digits

    def start(self, function: Any) -> None:
        self._signed: dict[Any, Any] = {}

    def visit(self, variable: Any, value: Any) -> Any:
        operator = next((name for name in ("dense", "conv2d") if qnn.is_qnn(value, name)), None)
        require(operator is not None and spec_of(value.args[0]).dtype == "uint8")
        stated = qnn.attributes(value, LinearAttributes)
        attributes = changed(stated, zero_point=stated.zero_point + _LOWEST)
        check_product(value, attributes, by_digits=self.by_digits or operator == "dense")
        x = value.args[0]
        if x not in self._signed:
            self._signed[x] = self.emit(qnn.emit("lookup", [x, relax.const(MOVED)]), f"{x.name}_signed")
        return qnn.emit(str(operator), [self._signed[x], *value.args[1:]], attributes)


def check_product(value: Any, attributes: LinearAttributes, *, by_digits: bool) -> None:
    """Sums of a product, or of a convolution as one of windows, must leave the engine exactly with int8 inputs.

    Without `by_digits` the engine's own requantization must tell them.
    """
    weights, rule = needed(constant(value.args[1])), qnn.Requant.of(attributes)
    if isinstance(attributes, Conv2dAttributes):
        require(attributes.layout == "NHWC" and attributes.groups == 1)
    weights = weights.reshape(len(weights), -1)
    constants = [needed(constant(a)) for a in value.args[len(value.args) - rule.operands :]]
    require(weights.dtype == np.int8 and rule.kind != "none")
    if not by_digits:
        rule_of_numbers(rule, constants)
    bias = -attributes.zero_point * weights.astype(np.int64).sum(axis=1)
    if attributes.has_bias:
        bias = bias + constant(value.args[2]).astype(np.int64)
    linear_portions(weights.astype(np.int64), bias, rule, constants)
