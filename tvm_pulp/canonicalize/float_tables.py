"""Pass: costly functions of one 8-bit tensor whose results stay float are looked up in 256 floats.

Expects what folding left: a float function of a dequantized tensor, because a float output or a float layer follows.
Guarantees the values that float32 gives for each byte.

    sigmoid(dequantize(x))   becomes   lookup(x, 256 floats)
"""

from typing import Any

import numpy as np

from tvm_pulp import qnn
from tvm_pulp.canonicalize.qdq_rewriter import QdqRewriter
from tvm_pulp.canonicalize.qdq_unary import function_of_byte
from tvm_pulp.canonicalize.rewriter import relax_name, require, spec_of

# Functions that take longer than a table takes to read; sums, products and limits do not.
_COSTLY = {f"relax.{n}" for n in ("cos", "divide", "erf", "exp", "log", "power", "rsqrt", "sigmoid", "sin", "sqrt")}
_COSTLY |= {"relax.tanh", "relax.nn.gelu", "relax.nn.gelu_tanh", "relax.nn.silu"}
# Fewer values are computed while a table is still being fetched.
_LEAST_ELEMENTS = 64


class FloatTables(QdqRewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        require(relax_name(value) and not qnn.is_qnn(value))
        # Rewritten operands leave a call without its type.
        value = self.builder.normalize(value)
        if not hasattr(value.ty, "shape") or not self._is_costly(value):
            return value
        spec = spec_of(value)
        if spec.dtype != "float32" or spec.elements < _LEAST_ELEMENTS:
            return value
        found = function_of_byte(self, value)
        if found is None or spec_of(found[0]).shape != spec.shape:
            return value
        return qnn.emit("lookup", [found[0], np.broadcast_to(found[1], (256,)).astype(np.float32)])

    def _is_costly(self, call: Any) -> bool:
        """The function itself, or what it continues: a table that was made for an operand."""
        return call.op.name in _COSTLY or any(qnn.is_qnn(self.definition(a), "lookup") for a in call.args)
