"""Reductions along axes."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tvm_pulp.frontend.onnx_graph_builder import GraphBuilder, GraphValue, numbers
from tvm_pulp.frontend.torch_program.elementwise import Operators, overloads


def _reduce(g: GraphBuilder, op: str, made: str, x: GraphValue, axes: Any, keep: Any) -> str:
    """A reduction of something made of an operand, along axes of the latter; none given means all."""
    return g.emit(op, made, g.integers(*(numbers(axes) or range(x.rank))), keepdims=int(bool(keep)))


def _reduction(op: str, g: GraphBuilder, x: GraphValue, axes: Any = None, keep: bool = False, *_: Any) -> str:
    (made,) = g.typed(x)
    return _reduce(g, op, made, x, axes, keep) if x.rank else made


def _whole(op: str, g: GraphBuilder, x: GraphValue, *_: Any) -> str:
    """Over all axes; what follows the operand is only a type."""
    return _reduction(op, g, x)


def _extreme(kind: str, g: GraphBuilder, x: GraphValue, axis: int, keep: bool) -> list[str]:
    """Largest or smallest values along an axis, and where they are."""
    return [_reduce(g, f"Reduce{kind}", x.name, x, axis, keep), _place(f"Arg{kind}", g, x, axis, keep)]


def _place(op: str, g: GraphBuilder, x: GraphValue, axis: int | None, keep: bool) -> str:
    if axis is None:
        return g.emit(op, g.reshape(x, [-1]), axis=0, keepdims=0)
    return g.emit(op, x, axis=axis, keepdims=int(keep))


def variance(g: GraphBuilder, x: GraphValue, axes: Any = None, correction: Any = None, keep: bool = False) -> str:
    count = math.prod(x.shape[a] for a in numbers(axes) or range(x.rank))
    apart = g.emit("Sub", x, _reduce(g, "ReduceMean", x.name, x, axes, True))
    made = _reduce(g, "ReduceMean", g.emit("Mul", apart, apart), x, axes, keep)
    less = 1 if correction is None else correction
    return made if not less else g.emit("Mul", made, np.float32(count / max(count - less, 0)))


def deviation(g: GraphBuilder, *operands: Any) -> str:
    return g.emit("Sqrt", variance(g, *operands))


def _with_flag(write: Callable[..., str], g: GraphBuilder, x: GraphValue, *rest: Any) -> str:
    """The older overloads say whether to correct by one."""
    axes, corrected, keep = rest if len(rest) > 1 else (None, *rest, False)
    return write(g, x, axes, int(corrected), keep)


def vector_norm(g: GraphBuilder, x: GraphValue, order: float, axes: Any, keep: bool, *_: Any) -> str:
    names = {1: "ReduceL1", 2: "ReduceL2"}
    if order in names:
        return _reduce(g, names[int(order)], x.name, x, axes, keep)
    sizes = g.emit("Abs", x)
    if order == math.inf:
        return _reduce(g, "ReduceMax", sizes, x, axes, keep)
    total = _reduce(g, "ReduceSum", g.emit("Pow", sizes, np.float32(order)), x, axes, keep)
    return g.emit("Pow", total, np.float32(1 / order))


def _booleans(op: str, g: GraphBuilder, x: GraphValue, axes: Any = None, keep: bool = False) -> str:
    """The truth of any or of all, as the largest or smallest number."""
    numbered = g.emit("Cast", g.cast(x, "bool"), to=6)  # int32
    return g.emit("Cast", _reduce(g, op, numbered, x, axes, keep), to=9)  # bool


OPERATORS: Operators = {
    **{f"aten.{kind.lower()}": partial(_whole, f"Reduce{kind}") for kind in ("Mean", "Sum", "Prod", "Max", "Min")},
    "aten.mean.dim": partial(_reduction, "ReduceMean"),
    "aten.sum.dim_IntList": partial(_reduction, "ReduceSum"),
    "aten.prod.dim_int": partial(_reduction, "ReduceProd"),
    **{f"aten.a{kind.lower()}": partial(_reduction, f"Reduce{kind}") for kind in ("Max", "Min")},
    **{f"aten.{kind.lower()}.dim": partial(_extreme, kind) for kind in ("Max", "Min")},
    **{f"aten.arg{kind.lower()}": partial(_place, f"Arg{kind}") for kind in ("Max", "Min")},
    "aten.var.correction": variance,
    "aten.std.correction": deviation,
    **overloads(partial(_with_flag, variance), "var", "", "dim"),
    **overloads(partial(_with_flag, deviation), "std", "", "dim"),
    "aten.linalg_vector_norm": vector_norm,
    "aten.norm.ScalarOpt_dim": vector_norm,
    "aten.logsumexp": lambda g, x, axes, keep: _reduce(g, "ReduceLogSumExp", x.name, x, axes, keep),
    "aten.cumsum": lambda g, x, axis, *_: g.emit("CumSum", *g.typed(x), np.asarray(axis, np.int64)),
    **overloads(partial(_booleans, "ReduceMax"), "any", "", "dim"),
    **overloads(partial(_booleans, "ReduceMin"), "all", "", "dim"),
}
