"""Pass: convolutions become products of their windows with the weights, which the engine multiplies.

Expects canonical form and int8 inputs. A window is a row of a matrix, which the cores lay out; where it is a single
pixel there is nothing to lay out.

    conv2d(x, w)   becomes   dense(im2col(x), w as one row a channel)

Only where the engine can tell the sums exactly, of one product or of several (`portions.py`). Cores that multiply four
bytes at a time convolve in less time than windows and joining digits take: on their SoCs only those convolutions become
products that the engine rounds itself (`by_digits` is False).
"""

from typing import Any

from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, require, spec_of
from tvm_pulp.qnn.conv2d import Conv2dAttributes
from tvm_pulp.qnn.im2col import Im2colAttributes
from tvm_pulp.qnn.record import LinearAttributes
from uma_backends.ita.signed_operands import check_product

# Below, starting the engine and putting digits together takes longer than the cores' own products.
_LEAST_MACS = 1 << 14


class ProductsOfWindows(Rewriter):
    def __init__(self, *, by_digits: bool = True) -> None:
        self.by_digits = by_digits

    def visit(self, variable: Any, value: Any) -> Any:
        require(qnn.is_qnn(value, "conv2d") and spec_of(value.args[0]).dtype == "int8")
        a, x = qnn.attributes(value, Conv2dAttributes), value.args[0]
        check_product(value, a, by_digits=self.by_digits)
        weights = constant(value.args[1])
        require(spec_of(value).elements * weights[0].size >= _LEAST_MACS)
        kernel = list(weights.shape[1:3])
        if kernel != [1, 1] or any(a.pads) or a.strides != (1, 1):
            size, zero_point = (kernel[0], kernel[1]), a.zero_point
            how = Im2colAttributes(
                strides=a.strides, dilation=a.dilation, pads=a.pads, kernel=size, zero_point=zero_point
            )
            x = self.emit(qnn.emit("im2col", [x], how), f"{variable.name}_windows")
        kept = LinearAttributes(zero_point=a.zero_point, has_bias=a.has_bias, sum_bits=a.sum_bits, requant=a.requant)
        return qnn.emit("dense", [x, relax.const(weights.reshape(len(weights), -1)), *value.args[2:]], kept)
