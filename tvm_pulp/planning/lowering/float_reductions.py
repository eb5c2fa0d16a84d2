"""Sums, means and extremes of floats as layers of the dialect."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter
from tvm_pulp.qnn.float_map import tree
from tvm_pulp.qnn.operator import spec_of

# Cores that usually share a layer.
_SHARED = 8


def _reduction(kind: str) -> Callable[[Rewriter, Any], Any]:
    def convert(rewriter: Rewriter, call: Any) -> Any:
        x = call.args[0]
        spec, given = spec_of(x), call.attrs.axis
        rank = len(spec.shape)
        axes = sorted(range(rank) if given is None else {int(a) % rank for a in given})
        if spec.dtype != "float32" or not axes or not spec.elements:
            return None
        if axes != list(range(axes[0], axes[-1] + 1)):
            return None
        expression, operands = _function_of(rewriter, x)
        lead, length = spec.shape[: axes[0]], math.prod(spec.shape[a] for a in axes)
        tail = spec.shape[axes[-1] + 1 :]
        parts = _parts(length) if math.prod((*lead, *tail)) < _SHARED else 1
        if parts == 1:
            return _reduce(kind, axes, bool(call.attrs.keepdims), expression, operands)
        # Few results: every core reduces a part first.
        shape = (*lead, parts, length // parts, *tail)
        cut = [rewriter.emit(relax.op.reshape(o, shape)) for o in operands]
        partial = rewriter.emit(_reduce(kind, [len(lead) + 1], False, expression, cut))
        result = _reduce(kind, [len(lead)], False, ["x", 0], [partial])
        return relax.op.reshape(rewriter.emit(result), spec_of(call).shape)

    return convert


def variance(rewriter: Rewriter, call: Any) -> Any:
    """The mean of squares of what is left without the mean."""
    x, given = call.args[0], call.attrs.axis
    spec = spec_of(x)
    axes = sorted(range(len(spec.shape)) if given is None else {int(a) % len(spec.shape) for a in given})
    if spec.dtype != "float32" or not axes or not spec.elements or axes != list(range(axes[0], axes[-1] + 1)):
        return None
    mean = rewriter.emit(_reduce("mean", axes, True, ["x", 0], [x]))
    difference = {"expression": json.dumps(["subtract", ["x", 0], ["x", 1]]), "shape": list(spec.shape)}
    centred = rewriter.emit(qnn.emit("float_map", [x, mean], difference))
    return _reduce("mean", axes, bool(call.attrs.keepdims), ["multiply", ["x", 0], ["x", 0]], [centred])


def _reduce(kind: str, axes: list[int], keepdims: bool, expression: list[Any], operands: list[Any]) -> Any:
    attributes = {"kind": kind, "axes": axes, "keepdims": int(keepdims), "expression": json.dumps(expression)}
    return qnn.emit("float_reduce", operands, attributes)


def _parts(length: int) -> int:
    """Equal parts for the cores, more than a few elements each; 1 where there are none."""
    return next((p for p in (8, 16, 12, 10, 9, 7, 6, 5, 4, 3, 2) if length % p == 0 and length // p >= 16), 1)


def _function_of(rewriter: Rewriter, x: Any) -> tuple[list[Any], list[Any]]:
    """What is reduced: a map that nobody else reads is computed on the way."""
    made = rewriter.definition(x)
    if not qnn.is_qnn(made, "float_map") or not made.args or rewriter.uses(x) > 1:
        return ["x", 0], [x]
    alike = all(spec_of(a).shape == spec_of(x).shape for a in made.args)
    return (tree(qnn.attributes(made)), list(made.args)) if alike else (["x", 0], [x])


CONVERTERS = {
    **{f"relax.{kind}": _reduction(kind) for kind in ("sum", "mean", "max", "min")},
    "relax.variance": variance,
}
