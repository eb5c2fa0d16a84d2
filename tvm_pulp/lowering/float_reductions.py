"""Sums, means and extremes of floats as layers of the dialect."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter
from tvm_pulp.qnn.float_map import tree
from tvm_pulp.qnn.operator import spec_of


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
        attributes = {"kind": kind, "axes": axes, "keepdims": int(bool(call.attrs.keepdims))}
        return qnn.emit("float_reduce", operands, {**attributes, "expression": json.dumps(expression)})

    return convert


def _function_of(rewriter: Rewriter, x: Any) -> tuple[list[Any], list[Any]]:
    """What is reduced: a map that nobody else reads is computed on the way."""
    made = rewriter.definition(x)
    if not qnn.is_qnn(made, "float_map") or not made.args or rewriter.uses(x) > 1:
        return ["x", 0], [x]
    alike = all(spec_of(a).shape == spec_of(x).shape for a in made.args)
    return (tree(qnn.attributes(made)), list(made.args)) if alike else (["x", 0], [x])


CONVERTERS = {f"relax.{kind}": _reduction(kind) for kind in ("sum", "mean", "max", "min")}
