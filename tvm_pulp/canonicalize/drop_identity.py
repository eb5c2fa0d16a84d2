"""Pass: operators that change nothing disappear.

Identity requantizations (`mul == 2^shift`, no offset, range already inside) are frequent in exported graphs, as are
transposes that move no byte and reshapes to the same shape.
"""

from typing import Any

from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.permute import permuted
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, integers, is_op, spec_of
from tvm_pulp.qnn.indexing import TransposeAttributes


class DropIdentity(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        if qnn.is_qnn(value, "requantize") and _keeps_values(value):
            return value.args[0]
        if qnn.is_qnn(value, "transpose"):
            value = permuted(value.args[0], list(qnn.attributes(value, TransposeAttributes).axes))
        if is_op(value, "relax.reshape"):
            source, target = value.args[0], tuple(integers(value.args[1].values))
            inner = self.definition(source)
            if is_op(inner, "relax.reshape"):
                source = inner.args[0]  # a view of a view
            return source if spec_of(source).shape == target else relax.op.reshape(source, target)
        return value


def _keeps_values(call: Any) -> bool:
    attributes, spec = qnn.attributes(call), spec_of(call.args[0])
    rule = qnn.Requant.of(attributes)
    if rule.kind != "pulp" or attributes["zero_point"] or rule.out_dtype != spec.dtype:
        return False
    one, half = 1 << rule.shift, (1 << rule.shift) >> 1
    same = (constant(call.args[1]) == one).all() and (constant(call.args[2]) == half).all()
    low, high = spec.range
    return bool(same and rule.low <= low and high <= rule.high)
