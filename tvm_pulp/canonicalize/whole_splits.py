"""Pass: a split into one part is its operand. TVM gives it the type of that part, not that of a tuple of one."""

from typing import Any

from tvm import relax

from tvm_pulp.canonicalize.rewriter import Rewriter, relax_name
from tvm_pulp.qnn import lineage


class WholeSplits(Rewriter):
    def run(self, module: Any) -> Any:
        concerned = any(_is_whole(b.value) for b in lineage.bindings_of(module["main"]))
        return super().run(module) if concerned else module

    def visit(self, variable: Any, value: Any) -> Any:
        return value.args[0] if _is_whole(value) else value


def _is_whole(value: Any) -> bool:
    return relax_name(value) == "relax.split" and isinstance(value.ty, relax.TensorType)
