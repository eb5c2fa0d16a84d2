"""The common part of passes that fuse attention: from the product with the values to the layout of the result."""

from typing import Any, ClassVar

from tvm_pulp import qnn
from tvm_pulp.canonicalize.permute import is_swap
from tvm_pulp.canonicalize.rewriter import Rewriter, needed, require


class FuseHeads(Rewriter):
    """Base of these passes; `operator` is what they make."""

    operator: ClassVar[str]

    def visit(self, variable: Any, value: Any) -> Any:
        if qnn.is_qnn(value, "matmul"):
            # Rewritten operands leave a call without its type.
            return self.attention(self.builder.normalize(value))
        require(is_swap(value))
        inner = needed(self.single(value.args[0], self.operator))
        attributes = dict(qnn.attributes(inner))
        attributes["y_layout"] = "shd" if attributes["y_layout"] == "hsd" else "hsd"
        return qnn.emit(self.operator, list(inner.args), attributes)

    def attention(self, value: Any) -> Any:
        """The operator for the chain that ends in a product with the values."""
        raise NotImplementedError
