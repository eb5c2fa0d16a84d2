"""Pass: picking entries by numbers of run time, and what brings those into range, are one layer.

Importers count numbers below zero from the end by three operators of one element each:

    take(x, where(i < 0, i + n, i))      becomes   take(x, i), from_end
"""

from typing import Any

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, is_op
from tvm_pulp.qnn.indexing import INDEX_TYPES
from tvm_pulp.qnn.operator import spec_of


class JoinTakes(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        if not is_op(value, "relax.take") or value.attrs.axis is None or str(value.attrs.mode) != "clip":
            return value
        x, indices = value.args
        shape, axis = spec_of(x).shape, int(value.attrs.axis)
        axis %= len(shape)
        if spec_of(indices).dtype not in INDEX_TYPES or not shape[axis]:
            return value
        given = self._counted_from_end(indices, shape[axis])
        attributes = {"axis": axis, "from_end": int(given is not None)}
        return qnn.emit("take", [x, indices if given is None else given], attributes)

    def _counted_from_end(self, indices: Any, extent: int) -> Any:
        """The numbers that `where(i < 0, i + n, i)` was made from, or None."""
        made = self.definition(indices)
        if not is_op(made, "relax.where"):
            return None
        below, more, given = self.definition(made.args[0]), self.definition(made.args[1]), made.args[2]
        if not is_op(below, "relax.less") or not is_op(more, "relax.add"):
            return None
        limits = [constant(call.args[1]) for call in (below, more)]
        same = all(call.args[0].same_as(given) for call in (below, more))
        known = all(limit is not None and limit.size == 1 for limit in limits)
        return given if same and known and [int(limit) for limit in limits] == [0, extent] else None
