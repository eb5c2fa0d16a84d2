"""Element-wise operators on floats as `float_map`; one that only the next one reads becomes part of it."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant
from tvm_pulp.qnn.float_map import emit_map, functions, tree
from tvm_pulp.qnn.operator import spec_of

Expression = list[Any]
Build = Callable[..., Expression]

# A map does not grow beyond these: operands need registers, and functions code.
_MOST_OPERANDS, _MOST_FUNCTIONS = 8, 40
_OPERANDS = ("float32", "int8", "uint8", "int32", "bool")


def c(value: float) -> Expression:
    """A constant."""
    return ["c", float(np.float32(value))]


def relu(x: Expression) -> Expression:
    return ["maximum", x, c(0)]


def gelu(x: Expression) -> Expression:
    half = ["multiply", x, c(0.5)]
    return ["multiply", half, ["add", c(1), ["erf", ["multiply", x, c(math.sqrt(0.5))]]]]


def gelu_tanh(x: Expression) -> Expression:
    cube = ["multiply", ["multiply", x, x], x]
    inner = ["multiply", c(math.sqrt(2 / math.pi)), ["add", x, ["multiply", c(0.044715), cube]]]
    return ["multiply", ["multiply", x, c(0.5)], ["add", c(1), ["tanh", inner]]]


def power(x: Expression, exponent: float) -> Expression:
    """A constant power: products and roots where it is a small whole number or one and a half of one."""
    whole = math.floor(abs(exponent))
    if whole > 16 or abs(exponent) - whole not in (0.0, 0.5):
        return ["power", x, c(exponent)]
    result: Expression | None = ["sqrt", x] if abs(exponent) != whole else None
    square, left = x, whole
    while left:
        if left & 1:
            result = square if result is None else ["multiply", result, square]
        left >>= 1
        square = ["multiply", square, square]
    if result is None:
        return c(1)
    if exponent == -0.5:
        return ["rsqrt", x]
    return ["divide", c(1), result] if exponent < 0 else result


def divide(a: Expression, b: Expression) -> Expression:
    """By a constant: the product with its reciprocal, within one unit in the last place."""
    if b[0] == "c" and b[1] != 0 and math.isfinite(1 / b[1]) and abs(1 / b[1]) > 2.0**-120:
        return ["multiply", a, c(1 / b[1])]
    return ["divide", a, b]


def _same(name: str) -> Build:
    return lambda *operands: [name, *operands]


def _leaky(call: Any, x: Expression) -> Expression:
    return ["where", ["less", x, c(0)], ["multiply", x, c(float(call.attrs.alpha))], x]


def _clip(call: Any, x: Expression) -> Expression:
    low, high = (float(a.value) for a in call.args[1:])
    return ["minimum", ["maximum", x, c(low)], c(high)]


def _power(_call: Any, x: Expression, exponent: Expression) -> Expression:
    return power(x, exponent[1]) if exponent[0] == "c" else ["power", x, exponent]


# Functions of the operands alone.
_PLAIN: dict[str, Build] = {
    **{f"relax.{n}": _same(n) for n in ("add", "subtract", "multiply", "maximum", "minimum")},
    **{f"relax.{n}": _same(n) for n in ("exp", "log", "sqrt", "rsqrt", "sigmoid", "tanh", "erf", "negative", "abs")},
    **{f"relax.{n}": _same(n) for n in ("sin", "cos", "floor", "ceil", "trunc", "where", "logical_and", "logical_or")},
    **{f"relax.{n}": _same(n) for n in ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")},
    "relax.divide": divide,
    "relax.square": lambda x: ["multiply", x, x],
    "relax.nn.relu": relu,
    "relax.nn.silu": lambda x: ["multiply", x, ["sigmoid", x]],
    "relax.nn.gelu": gelu,
    "relax.nn.gelu_tanh": gelu_tanh,
    "relax.logical_not": _same("logical_not"),
    "relax.broadcast_to": lambda x: x,
}
# Functions of the call's attributes as well.
_SPECIAL: dict[str, Build] = {
    "relax.nn.leakyrelu": _leaky,
    "relax.clip": _clip,
    "relax.power": _power,
    "relax.astype": lambda _call, x: ["float32", x],
}


def convert(rewriter: Rewriter, call: Any) -> Any:
    """A `float_map`, or None where an operand or the result has a type that it does not know."""
    name, out = call.op.name, spec_of(call)
    if out.dtype not in ("float32", "bool") or (name in ("relax.clip", "relax.astype") and out.dtype != "float32"):
        return None
    tensors = [a for a in call.args if hasattr(a, "ty") and hasattr(a.ty, "dtype") and hasattr(a.ty, "shape")]
    specs = [spec_of(a) for a in tensors]
    if not specs or any(s.dtype not in _OPERANDS for s in specs):
        return None
    # Integers only where they are converted; conditions where they are asked for.
    if name != "relax.astype" and any(s.dtype not in ("float32", "bool") for s in specs):
        return None
    fused = Fused(rewriter, call, out.shape)
    parts = [fused.part(a) for a in tensors]
    expression = _SPECIAL[name](call, *parts) if name in _SPECIAL else _PLAIN[name](*parts)
    if expression[0] == "x" and specs[0].shape == out.shape:
        return None
    return fused.finish(expression)


class Fused:
    """Operands of a map under construction; those that are maps themselves are taken in."""

    def __init__(self, rewriter: Rewriter, call: Any, shape: tuple[int, ...]) -> None:
        self._rewriter, self._shape = rewriter, shape
        self._call_uses = [a for a in call.args if a is not None]
        self.operands: list[Any] = []
        self._functions = 0

    def part(self, operand: Any) -> Expression:
        """The expression of an operand: a constant, what made it, or the operand itself."""
        data = constant(operand)
        if data is not None and data.size == 1 and data.dtype == np.float32:
            return c(float(data.reshape(-1)[0]))
        made = self._rewriter.definition(operand)
        if made is not None and self._only_here(operand):
            if qnn.is_qnn(made, "float_map") and self._fits(made):
                return self._take(tree(qnn.attributes(made)), list(made.args))
            if qnn.is_qnn(made, "dequantize") and self._plain_dequantize(made):
                return self._dequantized(made)
        return self._operand(operand)

    def finish(self, expression: Expression) -> Any:
        return emit_map(expression, self.operands, self._shape)

    def _operand(self, operand: Any) -> Expression:
        for number, known in enumerate(self.operands):
            if known is operand or (hasattr(known, "same_as") and known.same_as(operand)):
                return ["x", number]
        self.operands.append(operand)
        return ["x", len(self.operands) - 1]

    def _only_here(self, operand: Any) -> bool:
        here = sum(1 for a in self._call_uses if hasattr(a, "same_as") and a.same_as(operand))
        return self._rewriter.uses(operand) <= here

    def _fits(self, made: Any) -> bool:
        """Of the result's own shape: nothing is computed twice. And not too large together."""
        added = functions(tree(qnn.attributes(made)))
        small = self._functions + added <= _MOST_FUNCTIONS
        return spec_of(made).shape == self._shape and small and len(self.operands) + len(made.args) <= _MOST_OPERANDS

    def _take(self, expression: Expression, operands: list[Any]) -> Expression:
        self._functions += functions(expression)
        renamed = [self._operand(o) for o in operands]

        def rename(e: Expression) -> Expression:
            if e[0] == "x":
                return renamed[e[1]]
            return e if e[0] == "c" else [e[0], *map(rename, e[1:])]

        return rename(expression)

    def _plain_dequantize(self, made: Any) -> bool:
        parameters = [constant(p) for p in made.args[1:]]
        wide = spec_of(made.args[0]).dtype == "int32" and any(p is not None and p.any() for p in parameters[1:])
        known = all(p is not None and p.size == 1 for p in parameters)
        return known and not wide and spec_of(made).shape == self._shape and len(self.operands) < _MOST_OPERANDS

    def _dequantized(self, made: Any) -> Expression:
        scale, zero = (float(constant(p).reshape(-1)[0]) for p in made.args[1:])
        x: Expression = ["float32", self._operand(made.args[0])]
        self._functions += 2
        # Differences of 8- and 16-bit integers are exact as floats.
        return ["multiply", ["subtract", x, c(zero)] if zero else x, c(scale)]


CONVERTERS = dict.fromkeys([*_PLAIN, *_SPECIAL], convert)
