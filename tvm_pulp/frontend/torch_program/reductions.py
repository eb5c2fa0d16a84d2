"""Reductions along axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tvm_pulp.frontend.torch_program.elementwise import Operators
from tvm_pulp.frontend.torch_program.graph_builder import GraphBuilder, Value


def _axes(g: GraphBuilder, x: Value, axes: Any) -> str:
    given = [axes] if isinstance(axes, int) else list(axes or [])
    return g.integers(*(given or range(x.rank)))


def _typed(g: GraphBuilder, x: Value) -> str:
    return g.cast(x, g.result.dtype) if g.result is not None else x.name


def _reduction(op: str) -> Callable[..., str]:
    def write(g: GraphBuilder, x: Value, axes: Any = None, keep: bool = False, *_: Any) -> str:
        if x.rank == 0:
            return _typed(g, x)
        return g.emit(op, _typed(g, x), _axes(g, x, axes), keepdims=int(bool(keep)))

    return write


def _whole(op: str) -> Callable[..., str]:
    """Over all axes; what follows the operand is only a type."""

    def write(g: GraphBuilder, x: Value, *_: Any) -> str:
        return _reduction(op)(g, x)

    return write


def _extreme(op: str, place: str) -> Callable[..., list[str]]:
    """Largest or smallest values along an axis, and where they are."""

    def write(g: GraphBuilder, x: Value, axis: int, keep: bool = False) -> list[str]:
        found = g.emit(op, x, g.integers(axis), keepdims=int(keep))
        return [found, g.emit(place, x, axis=axis, keepdims=int(keep))]

    return write


def _place(op: str) -> Callable[..., str]:
    def write(g: GraphBuilder, x: Value, axis: int | None = None, keep: bool = False) -> str:
        if axis is None:
            return g.emit(op, g.reshape(x, [-1]), axis=0, keepdims=0)
        return g.emit(op, x, axis=axis, keepdims=int(keep))

    return write


def variance(g: GraphBuilder, x: Value, axes: Any = None, correction: Any = None, keep: bool = False) -> str:
    given = [axes] if isinstance(axes, int) else list(axes or range(x.rank))
    count = math.prod(x.shape[a] for a in given)
    mean = g.emit("ReduceMean", x, g.integers(*given), keepdims=1)
    apart = g.emit("Sub", x, mean)
    made = g.emit("ReduceMean", g.emit("Mul", apart, apart), g.integers(*given), keepdims=int(bool(keep)))
    less = 1 if correction is None else correction
    return made if not less else g.emit("Mul", made, np.float32(count / max(count - less, 0)))


def deviation(g: GraphBuilder, *operands: Any) -> str:
    return g.emit("Sqrt", variance(g, *operands))


def _with_flag(write: Callable[..., str]) -> Callable[..., str]:
    """The older overloads say whether to correct by one."""

    def written(g: GraphBuilder, x: Value, *rest: Any) -> str:
        if len(rest) == 1:
            return write(g, x, None, int(rest[0]))
        axes, corrected, keep = rest
        return write(g, x, axes, int(corrected), keep)

    return written


def vector_norm(g: GraphBuilder, x: Value, order: float = 2, axes: Any = None, keep: bool = False, *_: Any) -> str:
    names = {1: "ReduceL1", 2: "ReduceL2"}
    if order in names:
        return g.emit(names[int(order)], x, _axes(g, x, axes), keepdims=int(keep))
    if order == math.inf:
        return g.emit("ReduceMax", g.emit("Abs", x), _axes(g, x, axes), keepdims=int(keep))
    powers = g.emit("Pow", g.emit("Abs", x), np.float32(order))
    total = g.emit("ReduceSum", powers, _axes(g, x, axes), keepdims=int(keep))
    return g.emit("Pow", total, np.float32(1 / order))


def logsumexp(g: GraphBuilder, x: Value, axes: Sequence[int], keep: bool = False) -> str:
    return g.emit("ReduceLogSumExp", x, _axes(g, x, axes), keepdims=int(keep))


def cumsum(g: GraphBuilder, x: Value, axis: int, *_: Any) -> str:
    return g.emit("CumSum", _typed(g, x), np.asarray(axis, np.int64))


def _booleans(op: str) -> Callable[..., str]:
    """Whether any or all are true."""

    def write(g: GraphBuilder, x: Value, axes: Any = None, keep: bool = False) -> str:
        numbers = g.emit("Cast", g.cast(x, "bool"), to=6)  # int32
        found = g.emit(op, numbers, _axes(g, x, axes), keepdims=int(keep))
        return g.emit("Cast", found, to=9)  # bool

    return write


OPERATORS: Operators = {
    "aten.mean": _whole("ReduceMean"),
    "aten.mean.dim": _reduction("ReduceMean"),
    "aten.sum": _whole("ReduceSum"),
    "aten.sum.dim_IntList": _reduction("ReduceSum"),
    "aten.prod": _whole("ReduceProd"),
    "aten.prod.dim_int": _reduction("ReduceProd"),
    "aten.amax": _reduction("ReduceMax"),
    "aten.amin": _reduction("ReduceMin"),
    "aten.max": _whole("ReduceMax"),
    "aten.min": _whole("ReduceMin"),
    "aten.max.dim": _extreme("ReduceMax", "ArgMax"),
    "aten.min.dim": _extreme("ReduceMin", "ArgMin"),
    "aten.argmax": _place("ArgMax"),
    "aten.argmin": _place("ArgMin"),
    "aten.var.correction": variance,
    "aten.std.correction": deviation,
    "aten.var": _with_flag(variance),
    "aten.var.dim": _with_flag(variance),
    "aten.std": _with_flag(deviation),
    "aten.std.dim": _with_flag(deviation),
    "aten.linalg_vector_norm": vector_norm,
    "aten.norm.ScalarOpt_dim": vector_norm,
    "aten.logsumexp": logsumexp,
    "aten.cumsum": cumsum,
    "aten.any": _booleans("ReduceMax"),
    "aten.any.dim": _booleans("ReduceMax"),
    "aten.all": _booleans("ReduceMin"),
    "aten.all.dim": _booleans("ReduceMin"),
}
