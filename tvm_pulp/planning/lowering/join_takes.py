"""Pass: picking entries by numbers of run time, and what brings those into range, are one layer.

Importers count numbers below zero from the end by three operators of one element each:

    take(x, where(i < 0, i + n, i))      becomes   take(x, i), from_end
"""

from typing import Any

from tvm_pulp import qnn
from tvm_pulp.canonicalize.match import or_none, require
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, is_op, single_value
from tvm_pulp.qnn.indexing import INDEX_TYPES
from tvm_pulp.qnn.operator import spec_of


class JoinTakes(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        require(is_op(value, "relax.take") and value.attrs.axis is not None and str(value.attrs.mode) == "clip")
        x, indices = value.args
        shape = spec_of(x).shape
        axis = int(value.attrs.axis) % len(shape)
        require(spec_of(indices).dtype in INDEX_TYPES and shape[axis])
        given = self._counted_from_end(indices, shape[axis])
        attributes = {"axis": axis, "from_end": int(given is not None)}
        return qnn.emit("take", [x, indices if given is None else given], attributes)

    @or_none
    def _counted_from_end(self, indices: Any, extent: int) -> Any:
        """The numbers that `where(i < 0, i + n, i)` was made from, or None."""
        made = self.definition(indices)
        require(is_op(made, "relax.where"))
        below, more, given = self.definition(made.args[0]), self.definition(made.args[1]), made.args[2]
        require(is_op(below, "relax.less") and is_op(more, "relax.add"))
        require(all(call.args[0].same_as(given) for call in (below, more)))
        require([single_value(constant(call.args[1])) for call in (below, more)] == [0, extent])
        return given
