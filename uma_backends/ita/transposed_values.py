"""Pass: values that a product with constant weights makes come transposed, which the engine does without help.

Expects canonical form. Products of two activations multiply rows by rows on the engine: the cores transpose a
right operand that is not, for every part of the product again. Where a projection makes it, the engine writes it
transposed: the weights become the left operand.

    matmul(p, transpose(reshape(dense), 0 2 1 3))   becomes   matmul(p, transpose(reshape(dense), 0 2 3 1), transpose_b)
"""

from typing import Any

from tvm_pulp import qnn
from tvm_pulp.canonicalize.permute import is_swap
from tvm_pulp.canonicalize.rewriter import Rewriter, is_op, needed, require
from uma_backends.ita.geometry import TRANSPOSE


class TransposedValues(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        require(qnn.is_qnn(value, "matmul") and not qnn.attributes(value)["transpose_b"])
        moved = needed(self.single(value.args[1], "transpose"))
        # Heads of a dense layer's result, which nobody else reads.
        heads = moved.args[0]
        view = self.definition(heads)
        require(is_swap(moved) and is_op(view, "relax.reshape") and self.uses(heads) == 1)
        needed(self.single(view.args[0], "dense"))
        transposed = qnn.emit("transpose", [heads], {"axes": TRANSPOSE})
        operands = [value.args[0], self.emit(transposed, f"{value.args[1].name}_transposed"), *value.args[2:]]
        return qnn.emit("matmul", operands, {**qnn.attributes(value), "transpose_b": 1})
