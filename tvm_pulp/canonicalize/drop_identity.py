"""Pass: operators that change nothing disappear.

Identity requantizations (`mul == 2^shift`, no offset, range already inside) are frequent in exported graphs, as are
transposes that move no byte and reshapes to the same shape.
"""

from __future__ import annotations

from typing import Any

from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, is_op
from tvm_pulp.qnn.operator import spec_of


class DropIdentity(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        if qnn.is_qnn(value, "requantize") and _keeps_values(value):
            return value.args[0]
        if qnn.is_qnn(value, "transpose"):
            shape, axes = spec_of(value.args[0]).shape, qnn.attributes(value)["axes"]
            moved = [a for a in axes if shape[a] > 1]
            if moved == sorted(moved):
                value = relax.op.reshape(value.args[0], tuple(shape[a] for a in axes))
        if is_op(value, "relax.reshape"):
            source, target = value.args[0], tuple(int(d) for d in value.args[1].values)
            inner = self.definition(source)
            if is_op(inner, "relax.reshape"):
                source = inner.args[0]  # a view of a view
            return source if spec_of(source).shape == target else relax.op.reshape(source, target)
        return value


def _keeps_values(call: Any) -> bool:
    rule, attributes = qnn.Requant.of(qnn.attributes(call)), qnn.attributes(call)
    spec = spec_of(call.args[0])
    if rule.kind != "pulp" or attributes["zero_point"] or rule.out_dtype != spec.dtype:
        return False
    one, half = 1 << rule.shift, (1 << rule.shift) >> 1
    same = (constant(call.args[1]) == one).all() and (constant(call.args[2]) == half).all()
    low, high = spec.range
    return bool(same and rule.low <= low and high <= rule.high)
