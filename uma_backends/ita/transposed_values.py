"""Pass: values that a product with constant weights makes come transposed, which the engine does without help.

Expects canonical form. Products of two activations multiply rows by rows on the engine: the cores transpose a
right operand that is not, for every part of the product again. Where a projection makes it, the engine writes it
transposed: the weights become the left operand.

    matmul(p, transpose(reshape(dense), 0 2 1 3))   becomes   matmul(p, transpose(reshape(dense), 0 2 3 1), transpose_b)
"""

from typing import Any

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, is_op

SWAP, TRANSPOSE = [0, 2, 1, 3], [0, 2, 3, 1]


class TransposedValues(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        if not qnn.is_qnn(value, "matmul") or qnn.attributes(value)["transpose_b"]:
            return value
        moved = self.definition(value.args[1])
        if moved is None or not qnn.is_qnn(moved, "transpose") or list(qnn.attributes(moved)["axes"]) != SWAP:
            return value
        if self.uses(value.args[1]) != 1 or not self._is_projected(moved.args[0]):
            return value
        transposed = self.emit(
            qnn.emit("transpose", [moved.args[0]], {"axes": TRANSPOSE}), f"{value.args[1].name}_transposed"
        )
        attributes = {**qnn.attributes(value), "transpose_b": 1}
        return qnn.emit("matmul", [value.args[0], transposed, *value.args[2:]], attributes)

    def _is_projected(self, heads: Any) -> bool:
        """Tell if these are heads of a dense layer's result, which nobody else reads."""
        view = self.definition(heads)
        if view is None or not is_op(view, "relax.reshape") or self.uses(heads) != 1:
            return False
        made = self.definition(view.args[0])
        return made is not None and qnn.is_qnn(made, "dense") and self.uses(view.args[0]) == 1
