"""Pass: a weight and a bias per column in the place of a normalization are a requantization.

Expects `no_norm` with constants along the last axis; guarantees the same values. What sums before it may then
requantize by itself: `(x * weight + bias) * mul >> shift` is `(x * (weight * mul) + bias * mul) >> shift`.

    add -> no_norm   becomes   add -> requantize
"""

from typing import Any

import numpy as np

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, needed, require, spec_of
from tvm_pulp.qnn.elementwise import NoNormAttributes
from tvm_pulp.qnn.requant import narrow_enough

_INT32 = 1 << 31


class NoNorms(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        require(qnn.is_qnn(value, "no_norm"))
        attributes, spec = qnn.attributes(value, NoNormAttributes), spec_of(value.args[0])
        operands = [needed(constant(a)) for a in value.args[1:3]]
        require(spec.shape and all(o.size in (1, spec.shape[-1]) for o in operands))
        # One element of another axis than the last would be broadcast as well, a column of several would not be a row.
        require(all(o.size == 1 or o.shape[-1] == o.size for o in operands))
        size = max(o.size for o in operands)
        mul, add = (np.broadcast_to(o.reshape(-1).astype(np.int64) * attributes.mul, (size,)) for o in operands)
        require(max(np.abs(mul).max(initial=0), np.abs(add).max(initial=0)) < _INT32)
        half = attributes.levels // 2
        low, high = spec.range
        narrow = spec.dtype != "int32" and narrow_enough(max(-low, high), mul, add)
        requant = qnn.Requant("pulp", attributes.shift, 0, -half, half - 1, wide=not narrow)
        stated = {"axis": len(spec.shape) - 1, "zero_point": 0, **requant.attributes()}
        return qnn.emit("requantize", [value.args[0], *(v.astype(np.int32) for v in (mul, add))], stated)
