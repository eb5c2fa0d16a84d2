"""Arithmetic element by element, with PyTorch's promotion of types."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tvm_pulp.frontend.torch_program.graph_builder import GraphBuilder, Value

Operators = dict[str, Callable[..., Any]]


def promoted(*operands: Any) -> str:
    """The type in which operands meet: a number takes the type of tensors unless it is of a higher kind."""
    tensors = [o for o in operands if isinstance(o, Value)]
    # Tensors without axes promote others no more than numbers do.
    strong = [o.dtype for o in tensors if o.shape] or [o.dtype for o in tensors]
    dtype = np.dtype(strong[0])
    for other in strong[1:]:
        dtype = np.promote_types(dtype, other)
    weak = [o for o in operands if isinstance(o, (bool, int, float))]
    weak += [np.dtype(o.dtype).type(0).item() for o in tensors if not o.shape]
    for number in weak:
        if isinstance(number, float) and dtype.kind != "f":
            dtype = np.dtype("float32")
        elif isinstance(number, int) and not isinstance(number, bool) and dtype.kind == "b":
            dtype = np.dtype("int64")
    return str(dtype)


def operand(g: GraphBuilder, value: Any, dtype: str) -> str:
    """A tensor or a number in a type."""
    if isinstance(value, Value):
        return g.cast(value, dtype)
    return g.constant(np.asarray(value, dtype))


def _result_type(g: GraphBuilder, *operands: Any) -> str:
    return g.result.dtype if g.result is not None else promoted(*operands)


def binary(op: str) -> Callable[..., str]:
    """An operator of two operands whose result has their common type."""

    def write(g: GraphBuilder, x: Any, y: Any, *_: Any) -> str:
        dtype = _result_type(g, x, y)
        return g.emit(op, operand(g, x, dtype), operand(g, y, dtype))

    return write


def unary(op: str, **attributes: Any) -> Callable[..., str]:
    """An operator of one operand; of integers PyTorch makes floats first where the result is float."""

    def write(g: GraphBuilder, x: Value, *_: Any) -> str:
        return g.emit(op, g.cast(x, _result_type(g, x)), **attributes)

    return write


def add(g: GraphBuilder, x: Any, y: Any, alpha: float = 1) -> str:
    return _scaled(g, "Add", x, y, alpha)


def sub(g: GraphBuilder, x: Any, y: Any, alpha: float = 1) -> str:
    return _scaled(g, "Sub", x, y, alpha)


def rsub(g: GraphBuilder, x: Any, y: Any, alpha: float = 1) -> str:
    return _scaled(g, "Sub", y, x, alpha)


def _scaled(g: GraphBuilder, op: str, x: Any, y: Any, alpha: float) -> str:
    dtype = _result_type(g, x, y)
    if dtype == "bool":
        return g.emit("Or", operand(g, x, dtype), operand(g, y, dtype))
    second = operand(g, y, dtype)
    if alpha != 1:
        second = g.emit("Mul", second, np.asarray(alpha, dtype))
    return g.emit(op, operand(g, x, dtype), second)


def mul(g: GraphBuilder, x: Any, y: Any) -> str:
    dtype = _result_type(g, x, y)
    return g.emit("And" if dtype == "bool" else "Mul", operand(g, x, dtype), operand(g, y, dtype))


def div(g: GraphBuilder, x: Any, y: Any, rounding_mode: str | None = None) -> str:
    dtype = _result_type(g, x, y)
    if not dtype.startswith("float") and rounding_mode == "floor":
        return _floor_of_integers(g, x, y, dtype)
    quotient = g.emit("Div", operand(g, x, dtype), operand(g, y, dtype))
    if rounding_mode is None or not dtype.startswith("float"):
        return quotient  # ONNX divides integers towards zero, too
    return g.emit("Floor", quotient) if rounding_mode == "floor" else _truncated(g, quotient)


def floor_divide(g: GraphBuilder, x: Any, y: Any) -> str:
    return div(g, x, y, "floor")


def _floor_of_integers(g: GraphBuilder, x: Any, y: Any, dtype: str) -> str:
    first, second = operand(g, x, dtype), operand(g, y, dtype)
    return g.emit("Div", g.emit("Sub", first, g.emit("Mod", first, second)), second)


def remainder(g: GraphBuilder, x: Any, y: Any) -> str:
    """With the sign of the divisor."""
    dtype = _result_type(g, x, y)
    first, second = operand(g, x, dtype), operand(g, y, dtype)
    if not dtype.startswith("float"):
        return g.emit("Mod", first, second)
    return g.emit("Sub", first, g.emit("Mul", second, g.emit("Floor", g.emit("Div", first, second))))


def fmod(g: GraphBuilder, x: Any, y: Any) -> str:
    """With the sign of the dividend."""
    dtype = _result_type(g, x, y)
    first, second = operand(g, x, dtype), operand(g, y, dtype)
    return g.emit("Sub", first, g.emit("Mul", second, _truncated(g, g.emit("Div", first, second))))


def _truncated(g: GraphBuilder, x: str) -> str:
    return g.emit("Mul", g.emit("Sign", x), g.emit("Floor", g.emit("Abs", x)))


def trunc(g: GraphBuilder, x: Value) -> str:
    return _truncated(g, x.name)


def power(g: GraphBuilder, x: Any, y: Any) -> str:
    dtype = _result_type(g, x, y)
    return g.emit("Pow", operand(g, x, dtype), operand(g, y, dtype))


def square(g: GraphBuilder, x: Value) -> str:
    return g.emit("Mul", x, x)


def rsqrt(g: GraphBuilder, x: Value) -> str:
    return g.emit("Reciprocal", g.emit("Sqrt", x))


def _of_log(base: float) -> Callable[..., str]:
    def write(g: GraphBuilder, x: Value) -> str:
        return g.emit("Mul", g.emit("Log", x), np.float32(1 / math.log(base)))

    return write


def log1p(g: GraphBuilder, x: Value) -> str:
    return g.emit("Log", g.emit("Add", x, np.float32(1)))


def expm1(g: GraphBuilder, x: Value) -> str:
    return g.emit("Sub", g.emit("Exp", x), np.float32(1))


def exp2(g: GraphBuilder, x: Value) -> str:
    return g.emit("Exp", g.emit("Mul", x, np.float32(math.log(2))))


def clamp(g: GraphBuilder, x: Value, low: Any = None, high: Any = None) -> str:
    dtype = _result_type(g, x)
    value = g.cast(x, dtype)
    if not isinstance(low, Value) and not isinstance(high, Value) and dtype.startswith("float"):
        limits = [None if b is None else g.constant(np.asarray(b, dtype)) for b in (low, high)]
        return g.emit("Clip", value, *limits)
    if low is not None:
        value = g.emit("Max", value, operand(g, low, dtype))
    return value if high is None else g.emit("Min", value, operand(g, high, dtype))


def clamp_max(g: GraphBuilder, x: Value, high: Any) -> str:
    return clamp(g, x, None, high)


def addcmul(g: GraphBuilder, x: Value, first: Value, second: Value, value: float = 1) -> str:
    product = g.emit("Mul", first, second)
    return g.emit("Add", x, product if value == 1 else g.emit("Mul", product, np.float32(value)))


def addcdiv(g: GraphBuilder, x: Value, first: Value, second: Value, value: float = 1) -> str:
    quotient = g.emit("Div", first, second)
    return g.emit("Add", x, quotient if value == 1 else g.emit("Mul", quotient, np.float32(value)))


def lerp(g: GraphBuilder, x: Value, end: Value, weight: Any) -> str:
    return g.emit("Add", x, g.emit("Mul", operand(g, weight, x.dtype), g.emit("Sub", end, x)))


def identity(g: GraphBuilder, x: Value, *_: Any) -> str:
    """The operand itself: copies, views and layouts mean nothing here."""
    return x.name


def converted(g: GraphBuilder, x: Value, *_: Any) -> str:
    return g.cast(x, _result_type(g, x))


OPERATORS: Operators = {
    "aten.add.Tensor": add,
    "aten.add.Scalar": add,
    "aten.sub.Tensor": sub,
    "aten.sub.Scalar": sub,
    "aten.rsub.Scalar": rsub,
    "aten.rsub.Tensor": rsub,
    "aten.mul.Tensor": mul,
    "aten.mul.Scalar": mul,
    "aten.div.Tensor": div,
    "aten.div.Scalar": div,
    "aten.div.Tensor_mode": div,
    "aten.div.Scalar_mode": div,
    "aten.floor_divide": floor_divide,
    "aten.floor_divide.Scalar": floor_divide,
    "aten.remainder.Scalar": remainder,
    "aten.remainder.Tensor": remainder,
    "aten.fmod.Scalar": fmod,
    "aten.fmod.Tensor": fmod,
    "aten.pow.Tensor_Scalar": power,
    "aten.pow.Tensor_Tensor": power,
    "aten.pow.Scalar": power,
    "aten.maximum": binary("Max"),
    "aten.minimum": binary("Min"),
    "aten.max.other": binary("Max"),
    "aten.min.other": binary("Min"),
    "aten.abs": unary("Abs"),
    "aten.neg": unary("Neg"),
    "aten.exp": unary("Exp"),
    "aten.exp2": exp2,
    "aten.expm1": expm1,
    "aten.log": unary("Log"),
    "aten.log2": _of_log(2),
    "aten.log10": _of_log(10),
    "aten.log1p": log1p,
    "aten.sqrt": unary("Sqrt"),
    "aten.rsqrt": rsqrt,
    "aten.reciprocal": unary("Reciprocal"),
    "aten.square": square,
    "aten.sin": unary("Sin"),
    "aten.cos": unary("Cos"),
    "aten.tan": unary("Tan"),
    "aten.asin": unary("Asin"),
    "aten.acos": unary("Acos"),
    "aten.atan": unary("Atan"),
    "aten.sinh": unary("Sinh"),
    "aten.cosh": unary("Cosh"),
    "aten.erf": unary("Erf"),
    "aten.floor": unary("Floor"),
    "aten.ceil": unary("Ceil"),
    "aten.round": unary("Round"),
    "aten.trunc": trunc,
    "aten.sign": unary("Sign"),
    "aten.clamp": clamp,
    "aten.clamp.Tensor": clamp,
    "aten.clamp_min": clamp,
    "aten.clamp_max": clamp_max,
    "aten.addcmul": addcmul,
    "aten.addcdiv": addcdiv,
    "aten.lerp.Scalar": lerp,
    "aten.lerp.Tensor": lerp,
    "aten.clone": identity,
    "aten.contiguous": identity,
    "aten.detach": identity,
    "aten.alias": identity,
    "aten.lift_fresh_copy": identity,
    "aten.to.dtype": converted,
    "aten.to.dtype_layout": converted,
    "aten._to_copy": converted,
    "aten.type_as": converted,
}
