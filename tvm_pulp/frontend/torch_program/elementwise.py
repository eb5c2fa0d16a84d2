"""Arithmetic, comparisons, logic and choices element by element, with PyTorch's promotion of types."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tvm_pulp.frontend.onnx_graph_builder import GraphBuilder, GraphValue

Operators = dict[str, Callable[..., Any]]


def overloads(write: Callable[..., Any], name: str, *kinds: str) -> Operators:
    """One translation of several overloads of an operator; an empty kind is the default one."""
    return {f"aten.{name}.{kind}".rstrip("."): write for kind in kinds}


def promoted(*operands: Any) -> str:
    """The type in which operands meet: a number takes the type of tensors unless it is of a higher kind."""
    tensors = [o for o in operands if isinstance(o, GraphValue)]
    # Tensors without axes promote others no more than numbers do.
    strong = [np.dtype(o.dtype) for o in tensors if o.shape] or [np.dtype(o.dtype) for o in tensors]
    # The width of whole numbers does not widen floats, as it does in NumPy.
    dtype = np.result_type(*([s for s in strong if s.kind == "f"] or strong))
    weak = [o for o in operands if isinstance(o, (bool, int, float))]
    weak += [np.dtype(o.dtype).type(0).item() for o in tensors if not o.shape]
    for number in weak:
        if isinstance(number, float) and dtype.kind != "f":
            dtype = np.dtype("float32")
        elif isinstance(number, int) and not isinstance(number, bool) and dtype.kind == "b":
            dtype = np.dtype("int64")
    return str(dtype)


def binary(op: str, of_booleans: str | None = None) -> Callable[..., str]:
    """An operator of two operands whose result has their common type; truth values may have one of their own."""
    return lambda g, x, y, *_: g.emit(of_booleans if of_booleans and g.result.dtype == "bool" else op, *g.typed(x, y))


def unary(op: str, **attributes: Any) -> Callable[..., str]:
    """An operator of one operand; of integers PyTorch makes floats first where the result is float."""
    return lambda g, x, *_: g.emit(op, *g.typed(x), **attributes)


def _scaled(op: str, g: GraphBuilder, x: Any, y: Any, alpha: float) -> str:
    """A sum or difference whose second operand has a factor."""
    if g.result.dtype == "bool":
        return g.emit("Or", *g.typed(x, y))
    (second,) = g.typed(y)
    if alpha != 1:
        second = g.emit("Mul", second, np.asarray(alpha, g.result.dtype))
    return g.emit(op, *g.typed(x), second)


def div(g: GraphBuilder, x: Any, y: Any, rounding_mode: str | None = None) -> str:
    first, second = g.typed(x, y)
    if not g.result.is_float and rounding_mode == "floor":
        return g.emit("Div", g.emit("Sub", first, g.emit("Mod", first, second)), second)
    quotient = g.emit("Div", first, second)
    if rounding_mode is None or not g.result.is_float:
        return quotient  # ONNX divides integers towards zero, too
    return g.emit("Floor", quotient) if rounding_mode == "floor" else _truncated(g, quotient)


def remainder(g: GraphBuilder, x: Any, y: Any) -> str:
    """With the sign of the divisor."""
    first, second = g.typed(x, y)
    if not g.result.is_float:
        return g.emit("Mod", first, second)
    return g.emit("Sub", first, g.emit("Mul", second, g.emit("Floor", g.emit("Div", first, second))))


def fmod(g: GraphBuilder, x: Any, y: Any) -> str:
    """With the sign of the dividend."""
    first, second = g.typed(x, y)
    return g.emit("Sub", first, g.emit("Mul", second, _truncated(g, g.emit("Div", first, second))))


def _truncated(g: GraphBuilder, x: str) -> str:
    return g.emit("Mul", g.emit("Sign", x), g.emit("Floor", g.emit("Abs", x)))


def rounded(g: GraphBuilder, x: GraphValue, decimals: int = 0) -> str:
    """Half to even, at a decimal place."""
    if decimals == 0:
        return g.emit("Round", x)
    there, back = ("Mul", "Div") if decimals > 0 else ("Div", "Mul")
    unit = np.asarray(10.0 ** abs(decimals), x.dtype)
    return g.emit(back, g.emit("Round", g.emit(there, x, unit)), unit)


def clamp(g: GraphBuilder, x: GraphValue, low: Any = None, high: Any = None) -> str:
    (value,) = g.typed(x)
    if not isinstance(low, GraphValue) and not isinstance(high, GraphValue) and g.result.is_float:
        return g.emit("Clip", value, *(None if b is None else g.cast(b, g.result.dtype) for b in (low, high)))
    if low is not None:
        value = g.emit("Max", value, *g.typed(low))
    return value if high is None else g.emit("Min", value, *g.typed(high))


def _added(op: str, g: GraphBuilder, x: GraphValue, first: GraphValue, second: GraphValue, factor: float = 1) -> str:
    """An operand plus a product or quotient that may have a factor."""
    made = g.emit(op, first, second)
    return g.emit("Add", x, made if factor == 1 else g.emit("Mul", made, np.float32(factor)))


_UNARY = (
    *("Abs", "Neg", "Exp", "Log", "Sqrt", "Reciprocal", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh"),
    *("Erf", "Floor", "Ceil", "Round", "Sign"),
)


_COMPARISONS = {
    "eq": "Equal",
    "ne": "Equal",
    "lt": "Less",
    "le": "LessOrEqual",
    "gt": "Greater",
    "ge": "GreaterOrEqual",
}


def _comparison(name: str, g: GraphBuilder, x: Any, y: Any) -> str:
    dtype = promoted(x, y)
    made = g.emit(_COMPARISONS[name], g.cast(x, dtype), g.cast(y, dtype))
    return g.emit("Not", made) if name == "ne" else made


def where(g: GraphBuilder, condition: GraphValue, x: Any, y: Any) -> str:
    return g.emit("Where", g.cast(condition, "bool"), *g.typed(x, y))


def masked_fill(g: GraphBuilder, x: GraphValue, mask: GraphValue, value: Any) -> str:
    return g.emit("Where", mask, g.cast(value, x.dtype), x)


def _full(g: GraphBuilder, value: float) -> str:
    """A constant of the shape of the result."""
    return g.constant(np.full(g.result.shape, value, g.result.dtype))


OPERATORS: Operators = {
    **{f"aten.{op.lower()}": unary(op) for op in _UNARY},
    **overloads(partial(_scaled, "Add"), "add", "Tensor", "Scalar"),
    **overloads(partial(_scaled, "Sub"), "sub", "Tensor", "Scalar"),
    **overloads(lambda g, x, y, alpha: _scaled("Sub", g, y, x, alpha), "rsub", "Tensor", "Scalar"),
    **overloads(binary("Mul", "And"), "mul", "Tensor", "Scalar"),
    **overloads(div, "div", "Tensor", "Scalar", "Tensor_mode", "Scalar_mode"),
    **overloads(lambda g, x, y: div(g, x, y, "floor"), "floor_divide", "", "Scalar"),
    **overloads(remainder, "remainder", "Scalar", "Tensor"),
    **overloads(fmod, "fmod", "Scalar", "Tensor"),
    **overloads(binary("Pow"), "pow", "Tensor_Scalar", "Tensor_Tensor", "Scalar"),
    "aten.maximum": binary("Max"),
    "aten.minimum": binary("Min"),
    "aten.max.other": binary("Max"),
    "aten.min.other": binary("Min"),
    "aten.exp2": lambda g, x: g.emit("Exp", g.emit("Mul", x, np.float32(math.log(2)))),
    "aten.expm1": lambda g, x: g.emit("Sub", g.emit("Exp", x), np.float32(1)),
    "aten.log2": lambda g, x: g.emit("Mul", g.emit("Log", x), np.float32(1 / math.log(2))),
    "aten.log10": lambda g, x: g.emit("Mul", g.emit("Log", x), np.float32(1 / math.log(10))),
    "aten.log1p": lambda g, x: g.emit("Log", g.emit("Add", x, np.float32(1))),
    "aten.rsqrt": lambda g, x: g.emit("Reciprocal", g.emit("Sqrt", x)),
    "aten.square": lambda g, x: g.emit("Mul", x, x),
    "aten.round.decimals": rounded,
    "aten.trunc": lambda g, x: _truncated(g, x.name),
    **overloads(clamp, "clamp", "", "Tensor"),
    "aten.clamp_min": clamp,
    "aten.clamp_max": lambda g, x, high: clamp(g, x, None, high),
    "aten.addcmul": partial(_added, "Mul"),
    "aten.addcdiv": partial(_added, "Div"),
    **overloads(
        lambda g, x, end, weight: g.emit("Add", x, g.emit("Mul", g.cast(weight, x.dtype), g.emit("Sub", end, x))),
        *("lerp", "Scalar", "Tensor"),
    ),
    # Copies, views and layouts mean nothing here.
    **{
        f"aten.{name}": lambda g, x, *_: x.name
        for name in ("clone", "contiguous", "detach", "alias", "lift_fresh_copy")
    },
    **{
        f"aten.{name}": lambda g, x, *_: g.typed(x)[0]
        for name in ("to.dtype", "to.dtype_layout", "_to_copy", "type_as")
    },
    **{f"aten.{name}.{kind}": partial(_comparison, name) for name in _COMPARISONS for kind in ("Scalar", "Tensor")},
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
