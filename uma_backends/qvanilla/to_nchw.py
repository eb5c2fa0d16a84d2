"""Pass: convolutions that QVanilla takes get its layout and its results; the CPU does the rest around them.

    conv2d (NHWC, int8 results)
    becomes   transpose -> conv2d (NCHW, int32 sums) -> requantize -> transpose

Transposes between two of them cancel each other out."""

from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.fold_transposes import FoldTransposes
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, spec_of
from tvm_pulp.qnn.conv2d import Conv2dAttributes
from uma_backends.qvanilla.conv2d import reach, refusal


def to_nchw(module: Any) -> Any:
    return FoldTransposes().run(_ToNchw().run(module))


class _ToNchw(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        if not qnn.is_qnn(value, "conv2d"):
            return value
        a, rule = qnn.attributes(value, Conv2dAttributes), qnn.Requant.of(qnn.attributes(value))
        data = [constant(operand) for operand in value.args[:3]]
        if a.layout != "NHWC" or refusal(a, [spec_of(v) for v in value.args], data):
            return value
        weight = np.ascontiguousarray(data[1].transpose(0, 3, 1, 2))
        bias = data[2] if a.has_bias else np.zeros(weight.shape[0], np.int32)
        image = self.emit(qnn.emit("transpose", [value.args[0]], {"axes": [0, 3, 1, 2]}))
        kept = {k: v for k, v in a.items() if not k.startswith("requant")}
        plain = {**kept, "layout": "NCHW", "has_bias": 1, "requant": "none"}
        constants = [relax.const(c, str(c.dtype)) for c in (weight, bias)]
        made = self.emit(qnn.emit("conv2d", [image, *constants], plain), f"{variable.name}_sums")
        if rule.operands:
            vectors = value.args[len(value.args) - rule.operands :]
            attributes = {**rule.attributes(), "zero_point": 0, "axis": 1, "reach": reach(weight, bias)}
            made = self.emit(qnn.emit("requantize", [made, *vectors], attributes), f"{variable.name}_bytes")
        return qnn.emit("transpose", [made], {"axes": [0, 2, 3, 1]})
