"""Operators that only move floats, as the layers that move integers."""

from collections.abc import Callable
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.qdq_movement import MOVEMENTS
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


def _moved(name: str) -> Callable[[Rewriter, Any], Any]:
    """The form that the same operator on integers has."""

    def convert(_rewriter: Rewriter, call: Any) -> Any:
        x = call.args[0]
        if spec_of(x).dtype != "float32" or not spec_of(x).elements:
            return None
        made = MOVEMENTS[name](call, x, 0)
        # An operator without an integer form comes back as it is.
        return made if qnn.is_qnn(made) else None

    return convert


def concat(_rewriter: Rewriter, call: Any) -> Any:
    parts = list(call.args[0].fields) if isinstance(call.args[0], relax.Tuple) else []
    specs = [spec_of(p) for p in parts]
    if not parts or any(s.dtype != "float32" or not s.elements for s in specs):
        return None
    axis = 0 if call.attrs.axis is None else int(call.attrs.axis) % len(specs[0].shape)
    return qnn.emit("concat", parts, {"axis": axis})


def split(rewriter: Rewriter, call: Any) -> Any:
    """One slice for each part."""
    x, given = call.args[0], call.attrs.indices_or_sections
    spec = spec_of(x)
    if spec.dtype != "float32" or not spec.elements:
        return None
    axis = int(call.attrs.axis) % len(spec.shape)
    sizes = [int(f.shape.values[axis]) for f in call.ty.fields]
    if given is None or 0 in sizes or sum(sizes) != spec.shape[axis]:
        return None
    parts, begin = [], 0
    for size in sizes:
        start, shape = [0] * len(spec.shape), list(spec.shape)
        start[axis], shape[axis] = begin, size
        attributes = {"begin": start, "stride": [1] * len(shape), "size": shape}
        parts.append(rewriter.emit(qnn.emit("slice", [x], attributes)))
        begin += size
    return relax.Tuple(parts)


CONVERTERS: dict[str, Callable[[Rewriter, Any], Any]] = {
    "relax.permute_dims": transpose,
    "relax.reshape": reshape,
    "relax.concat": concat,
    "relax.split": split,
    **{name: _moved(name) for name in ("relax.strided_slice", "relax.take", "relax.nn.pad")},
}
