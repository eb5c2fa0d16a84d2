"""Pass: a weight and a bias per column in the place of a normalization are a requantization.

Expects `no_norm` with constants along the last axis; guarantees the same values. What sums before it may then
requantize by itself: `(x * weight + bias) * mul >> shift` is `(x * (weight * mul) + bias * mul) >> shift`.

    add -> no_norm   becomes   add -> requantize
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant
from tvm_pulp.qnn.operator import spec_of
from tvm_pulp.qnn.requant import narrow_enough

_INT32 = 1 << 31


class NoNorms(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        return _requantize(value) if qnn.is_qnn(value, "no_norm") else value


def _requantize(call: Any) -> Any:
    attributes, spec = qnn.attributes(call), spec_of(call.args[0])
    operands = [constant(a) for a in call.args[1:3]]
    if not spec.shape or any(o is None or o.size not in (1, spec.shape[-1]) for o in operands):
        return call
    # One element of another axis than the last would be broadcast as well, a column of several would not be a row.
    if any(o.size > 1 and o.shape[-1] != o.size for o in operands):
        return call
    size = max(o.size for o in operands)
    mul, add = (np.broadcast_to(o.reshape(-1).astype(np.int64) * attributes["mul"], (size,)) for o in operands)
    if max(np.abs(mul).max(initial=0), np.abs(add).max(initial=0)) >= _INT32:
        return call
    half = attributes["levels"] // 2
    low, high = spec.range
    narrow = spec.dtype != "int32" and narrow_enough(max(-low, high), mul, add)
    requant = qnn.Requant("pulp", attributes["shift"], 0, -half, half - 1, wide=not narrow)
    constants = [relax.const(np.ascontiguousarray(v.astype(np.int32))) for v in (mul, add)]
    stated = {"axis": len(spec.shape) - 1, "zero_point": 0, **requant.attributes()}
    return qnn.emit("requantize", [call.args[0], *constants], stated)
