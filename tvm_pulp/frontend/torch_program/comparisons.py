"""Comparisons, logic and choices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tvm_pulp.frontend.torch_program.elementwise import Operators, operand, promoted
from tvm_pulp.frontend.torch_program.graph_builder import GraphBuilder, Value

_COMPARISONS = {
    "eq": "Equal",
    "ne": "Equal",
    "lt": "Less",
    "le": "LessOrEqual",
    "gt": "Greater",
    "ge": "GreaterOrEqual",
}


def _comparison(op: str, negated: bool = False) -> Callable[..., str]:
    def write(g: GraphBuilder, x: Any, y: Any) -> str:
        dtype = promoted(x, y)
        made = g.emit(op, operand(g, x, dtype), operand(g, y, dtype))
        return g.emit("Not", made) if negated else made

    return write


def _logic(op: str) -> Callable[..., str]:
    def write(g: GraphBuilder, x: Any, y: Any) -> str:
        return g.emit(op, operand(g, x, "bool"), operand(g, y, "bool"))

    return write


def _bitwise(op: str) -> Callable[..., str]:
    def write(g: GraphBuilder, x: Any, y: Any) -> str:
        dtype = promoted(x, y)
        name = op if dtype == "bool" else f"Bitwise{op}"
        return g.emit(name, operand(g, x, dtype), operand(g, y, dtype))

    return write


def bitwise_not(g: GraphBuilder, x: Value) -> str:
    return g.emit("Not" if x.dtype == "bool" else "BitwiseNot", x)


def logical_not(g: GraphBuilder, x: Value) -> str:
    return g.emit("Not", g.cast(x, "bool"))


def where(g: GraphBuilder, condition: Value, x: Any, y: Any) -> str:
    dtype = g.result.dtype if g.result is not None else promoted(x, y)
    return g.emit("Where", g.cast(condition, "bool"), operand(g, x, dtype), operand(g, y, dtype))


def masked_fill(g: GraphBuilder, x: Value, mask: Value, value: Any) -> str:
    return g.emit("Where", mask, operand(g, value, x.dtype), x)


def isnan(g: GraphBuilder, x: Value) -> str:
    return g.emit("Not", g.emit("Equal", x, x))


def like(fill: float | None) -> Callable[..., str]:
    """A constant of the shape of an operand."""

    def write(g: GraphBuilder, x: Value, *given: Any) -> str:
        assert g.result is not None
        value = given[0] if fill is None else fill
        return g.constant(np.full(g.result.shape, value, g.result.dtype))

    return write


OPERATORS: Operators = {
    **{
        f"aten.{name}.{kind}": _comparison(op, name == "ne")
        for name, op in _COMPARISONS.items()
        for kind in ("Scalar", "Tensor")
    },
    "aten.logical_and": _logic("And"),
    "aten.logical_or": _logic("Or"),
    "aten.logical_xor": _logic("Xor"),
    "aten.logical_not": logical_not,
    "aten.bitwise_and.Tensor": _bitwise("And"),
    "aten.bitwise_or.Tensor": _bitwise("Or"),
    "aten.bitwise_not": bitwise_not,
    "aten.where.self": where,
    "aten.where.ScalarOther": where,
    "aten.where.ScalarSelf": where,
    "aten.where.Scalar": where,
    "aten.masked_fill.Scalar": masked_fill,
    "aten.masked_fill.Tensor": masked_fill,
    "aten.isnan": isnan,
    "aten.zeros_like": like(0),
    "aten.ones_like": like(1),
    "aten.full_like": like(None),
}
