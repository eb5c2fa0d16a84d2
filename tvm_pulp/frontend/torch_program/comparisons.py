"""Comparisons, logic and choices."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tvm_pulp.frontend.torch_program.elementwise import Operators, binary, overloads, promoted
from tvm_pulp.frontend.torch_program.graph_builder import GraphBuilder, Value

_COMPARISONS = {
    "eq": "Equal",
    "ne": "Equal",
    "lt": "Less",
    "le": "LessOrEqual",
    "gt": "Greater",
    "ge": "GreaterOrEqual",
}


def _comparison(op: str, negated: bool) -> Callable[..., str]:
    def write(g: GraphBuilder, x: Any, y: Any) -> str:
        dtype = promoted(x, y)
        made = g.emit(op, g.cast(x, dtype), g.cast(y, dtype))
        return g.emit("Not", made) if negated else made

    return write


def where(g: GraphBuilder, condition: Value, x: Any, y: Any) -> str:
    return g.emit("Where", g.cast(condition, "bool"), *g.typed(x, y))


def masked_fill(g: GraphBuilder, x: Value, mask: Value, value: Any) -> str:
    return g.emit("Where", mask, g.cast(value, x.dtype), x)


def _full(g: GraphBuilder, value: float) -> str:
    """A constant of the shape of the result."""
    return g.constant(np.full(g.result.shape, value, g.result.dtype))


OPERATORS: Operators = {
    **{
        f"aten.{name}.{kind}": _comparison(op, name == "ne")
        for name, op in _COMPARISONS.items()
        for kind in ("Scalar", "Tensor")
    },
    **{f"aten.logical_{op.lower()}": binary(op) for op in ("And", "Or", "Xor")},
    "aten.logical_not": lambda g, x: g.emit("Not", g.cast(x, "bool")),
    "aten.bitwise_and.Tensor": binary("BitwiseAnd", "And"),
    "aten.bitwise_or.Tensor": binary("BitwiseOr", "Or"),
    "aten.bitwise_not": lambda g, x: g.emit("Not" if x.dtype == "bool" else "BitwiseNot", x),
    **overloads(where, "where", "self", "ScalarOther", "ScalarSelf", "Scalar"),
    **overloads(masked_fill, "masked_fill", "Scalar", "Tensor"),
    "aten.isnan": lambda g, x: g.emit("Not", g.emit("Equal", x, x)),
    "aten.zeros_like": lambda g, *_: _full(g, 0),
    "aten.ones_like": lambda g, *_: _full(g, 1),
    "aten.full_like": lambda g, _like, value, *_: _full(g, value),
}
