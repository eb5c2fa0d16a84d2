"""Pass: products of matrices of 32-bit integers as an operator of the dialect, which the cores share and cut.

matmul(a: int32, b: int32)   becomes   qnn.matmul(a, b)
"""

from typing import Any

from tvm_pulp import qnn
from tvm_pulp.canonicalize.match import require
from tvm_pulp.canonicalize.rewriter import Rewriter, is_op, spec_of
from tvm_pulp.qnn import lineage


class IntegerProducts(Rewriter):
    def run(self, module: Any) -> Any:
        concerned = any(_is_product(b.value) for b in lineage.bindings_of(module["main"]))
        return super().run(module) if concerned else module

    def visit(self, variable: Any, value: Any) -> Any:
        require(_is_product(value))
        none = qnn.Requant().attributes()
        return qnn.emit("matmul", value.args, {**none, "zero_point_a": 0, "zero_point_b": 0, "transpose_b": 0})


def _is_product(value: Any) -> bool:
    if not is_op(value, "relax.matmul"):
        return False
    specs = [spec_of(a) for a in value.args]
    return all(s.dtype == "int32" and len(s.shape) >= 2 for s in specs)
