"""Sums, means and extremes of floats as layers of the dialect."""

import math
from collections.abc import Callable
from typing import Any

from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.match import require
from tvm_pulp.canonicalize.qdq_movement import axes_of
from tvm_pulp.canonicalize.rewriter import Rewriter
from tvm_pulp.planning.lowering.floats import float_spec
from tvm_pulp.qnn.float_map import ExpressionAttributes, emit_map, tree
from tvm_pulp.qnn.float_reduce import emit_reduce
from tvm_pulp.qnn.loops import SHARED_ITERATIONS
from tvm_pulp.qnn.operator import spec_of

# Numbers of parts, those that cores share most evenly first.
_PARTS = (8, 16, 12, 10, 9, 7, 6, 5, 4, 3, 2)


def _axes(call: Any) -> list[int]:
    """Axes of floats that are reduced, which must lie beside each other."""
    axes = axes_of(call, range(len(float_spec(call.args[0]).shape)))
    require(axes and axes == list(range(axes[0], axes[-1] + 1)))
    return axes


def _reduction(kind: str) -> Callable[[Rewriter, Any], Any]:
    def convert(rewriter: Rewriter, call: Any) -> Any:
        x, axes = call.args[0], _axes(call)
        expression, operands = _function_of(rewriter, x)
        shape = spec_of(x).shape
        lead, tail, length = shape[: axes[0]], shape[axes[-1] + 1 :], math.prod(shape[a] for a in axes)
        parts = _parts(length) if math.prod((*lead, *tail)) < SHARED_ITERATIONS else 1
        if parts == 1:
            return emit_reduce(kind, axes, expression, operands, bool(call.attrs.keepdims))
        # Few results: every core reduces a part first.
        cut = [rewriter.emit(relax.op.reshape(o, (*lead, parts, length // parts, *tail))) for o in operands]
        partial = rewriter.emit(emit_reduce(kind, [len(lead) + 1], expression, cut))
        result = emit_reduce(kind, [len(lead)], ["x", 0], [partial])
        return relax.op.reshape(rewriter.emit(result), spec_of(call).shape)

    return convert


def variance(rewriter: Rewriter, call: Any) -> Any:
    """The mean of squares of what is left without the mean."""
    x, axes = call.args[0], _axes(call)
    mean = rewriter.emit(emit_reduce("mean", axes, ["x", 0], [x], keepdims=True))
    centred = rewriter.emit(emit_map(["subtract", ["x", 0], ["x", 1]], [x, mean], spec_of(x).shape))
    return emit_reduce("mean", axes, ["multiply", ["x", 0], ["x", 0]], [centred], bool(call.attrs.keepdims))


def _parts(length: int) -> int:
    """Equal parts for cores to share, more than a few elements each; 1 where there are none."""
    return next((p for p in _PARTS if length % p == 0 and length // p >= 16), 1)


def _function_of(rewriter: Rewriter, x: Any) -> tuple[list[Any], list[Any]]:
    """The function that is reduced: a map that nobody else reads is computed on the way."""
    made = rewriter.definition(x)
    if not qnn.is_qnn(made, "float_map") or not made.args or rewriter.uses(x) > 1:
        return ["x", 0], [x]
    alike = all(spec_of(a).shape == spec_of(x).shape for a in made.args)
    return (tree(qnn.attributes(made, ExpressionAttributes)), list(made.args)) if alike else (["x", 0], [x])


CONVERTERS = {
    **{f"relax.{kind}": _reduction(kind) for kind in ("sum", "mean", "max", "min")},
    "relax.variance": variance,
}
