"""Operators that only move floats, as the layers that move integers."""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant
from tvm_pulp.qnn.operator import spec_of


def transpose(_rewriter: Rewriter, call: Any) -> Any:
    x, given = call.args[0], call.attrs.axes
    shape = spec_of(x).shape
    axes = list(reversed(range(len(shape)))) if given is None else [int(a) % len(shape) for a in given]
    data = constant(x)
    if data is not None:
        return relax.const(np.ascontiguousarray(data.transpose(axes)))
    if spec_of(x).dtype != "float32":
        return None
    moved = [a for a in axes if shape[a] > 1]
    if moved == sorted(moved):  # no two axes longer than one change places: the bytes stay
        return relax.op.reshape(x, tuple(shape[a] for a in axes))
    return qnn.emit("transpose", [x], {"axes": axes})


def reshape(_rewriter: Rewriter, call: Any) -> Any:
    """A view of a constant is another constant."""
    data = constant(call.args[0])
    return None if data is None else relax.const(data.reshape(spec_of(call).shape))


CONVERTERS = {"relax.permute_dims": transpose, "relax.reshape": reshape}
