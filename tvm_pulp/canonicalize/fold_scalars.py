"""Pass: functions of constant numbers are numbers; some quantizers leave a chain of operators behind each of them.

quantize(sqrt(dequantize(8)))   becomes   3

Numbers have no axes: weights and biases, which always have some, keep the integers that they are stored as. Whoever
reads a number may want its integers too: where `dequantized` says so, what is left of those becomes a float.
"""

from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp.canonicalize.qdq_arithmetic import OnnxArithmetic
from tvm_pulp.canonicalize.qdq_operands import dequantized_constant, target_of
from tvm_pulp.canonicalize.qdq_rewriter import QdqRewriter
from tvm_pulp.canonicalize.qdq_unary import ELEMENTWISE
from tvm_pulp.canonicalize.rewriter import is_op, needed, relax_name, require, spec_of


class FoldScalars(QdqRewriter):
    def __init__(self, *, dequantized: bool) -> None:
        super().__init__(OnnxArithmetic())
        self._dequantized = dequantized

    def visit(self, variable: Any, value: Any) -> Any:
        require(isinstance(value, relax.Call) and relax_name(value))
        value = self.builder.normalize(value)
        require(isinstance(value.ty, relax.TensorType) and spec_of(value).shape == ())
        if is_op(value, "relax.dequantize"):
            require(self._dequantized)
            return relax.const(needed(dequantized_constant(value)).real)
        if is_op(value, "relax.quantize"):
            made = needed(target_of(value)).quantize(needed(self.real_constant(value.args[0])))
            return relax.const(np.asarray(made))
        function = needed(ELEMENTWISE.get(relax_name(value)))
        known = [needed(self.real_constant(a)) for a in value.args]
        require(all(k.dtype == np.float32 for k in known))
        with np.errstate(all="ignore"):
            return relax.const(np.asarray(function(*known), np.float32))
