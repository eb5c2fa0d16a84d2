"""Operators that only move floats, as the layers that move integers."""

from collections.abc import Callable
from typing import Any

from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.match import require
from tvm_pulp.canonicalize.permute import permuted
from tvm_pulp.canonicalize.qdq_movement import MOVEMENTS, moved_constant
from tvm_pulp.canonicalize.rewriter import Rewriter, spec_of
from tvm_pulp.planning.lowering.floats import float_spec


def constant_view(_rewriter: Rewriter, call: Any) -> Any:
    """A moved constant is another constant."""
    return moved_constant(call, call.args[0])


def transpose(_rewriter: Rewriter, call: Any) -> Any:
    x = call.args[0]
    require(spec_of(x).dtype == "float32")
    return permuted(x, qnn.attributes(MOVEMENTS["relax.permute_dims"](call, x, 0))["axes"])


def as_integers(_rewriter: Rewriter, call: Any) -> Any:
    """The form that the same operator on integers has."""
    float_spec(call.args[0])
    made = MOVEMENTS[call.op.name](call, call.args[0], 0)
    # An operator without an integer form comes back as it is.
    return made if qnn.is_qnn(made) else None


def concat(_rewriter: Rewriter, call: Any) -> Any:
    require(isinstance(call.args[0], relax.Tuple) and call.args[0].fields)
    specs = [float_spec(p) for p in call.args[0].fields]
    axis = 0 if call.attrs.axis is None else int(call.attrs.axis) % len(specs[0].shape)
    return qnn.emit("concat", list(call.args[0].fields), {"axis": axis})


def split(rewriter: Rewriter, call: Any) -> Any:
    """One slice for each part."""
    x, spec = call.args[0], float_spec(call.args[0])
    axis = int(call.attrs.axis) % len(spec.shape)
    sizes = [int(f.shape.values[axis]) for f in call.ty.fields]
    require(call.attrs.indices_or_sections is not None and 0 not in sizes and sum(sizes) == spec.shape[axis])
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
    "relax.concat": concat,
    "relax.split": split,
    **dict.fromkeys(("relax.strided_slice", "relax.take", "relax.nn.pad"), as_integers),
}
