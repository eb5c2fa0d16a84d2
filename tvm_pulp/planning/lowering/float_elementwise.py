"""Element-wise operators on floats as `float_map`; one that only the next one reads becomes part of it."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tvm_pulp import qnn
from tvm_pulp.canonicalize.match import require
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, single_value
from tvm_pulp.qnn.float_map import FloatMapAttributes, emit_map, functions, tree
from tvm_pulp.qnn.operator import spec_of

Expression = list[Any]
Build = Callable[..., Expression]

# A map does not grow beyond these: operands need registers, and functions code.
_MOST_OPERANDS, _MOST_FUNCTIONS = 8, 40
_CONVERTED = ("float32", "int8", "uint8", "int32", "bool")


def c(value: float) -> Expression:
    """A constant."""
    return ["c", float(np.float32(value))]


def gelu(x: Expression) -> Expression:
    half = ["multiply", x, c(0.5)]
    return ["multiply", half, ["add", c(1), ["erf", ["multiply", x, c(math.sqrt(0.5))]]]]


def gelu_tanh(x: Expression) -> Expression:
    cube = ["multiply", ["multiply", x, x], x]
    inner = ["multiply", c(math.sqrt(2 / math.pi)), ["add", x, ["multiply", c(0.044715), cube]]]
    return ["multiply", ["multiply", x, c(0.5)], ["add", c(1), ["tanh", inner]]]


def power(x: Expression, given: Expression) -> Expression:
    """A constant power: products and roots where it is a small whole number or one and a half of one."""
    exponent = given[1] if given[0] == "c" else math.inf
    if abs(exponent) >= 17 or abs(exponent) % 1 not in (0.0, 0.5):
        return ["power", x, given]
    whole = math.floor(abs(exponent))
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


# Functions that a map calls as Relax does.
_SAME = (
    "add subtract multiply maximum minimum exp log sqrt rsqrt sigmoid tanh erf negative abs sin cos floor ceil trunc "
    "where logical_and logical_or logical_not less less_equal greater greater_equal equal not_equal"
)
# Functions of the operands alone.
_PLAIN: dict[str, Build] = {
    **{f"relax.{name}": _same(name) for name in _SAME.split()},
    "relax.divide": divide,
    "relax.power": power,
    "relax.square": lambda x: ["multiply", x, x],
    "relax.nn.relu": lambda x: ["maximum", x, c(0)],
    "relax.nn.silu": lambda x: ["multiply", x, ["sigmoid", x]],
    "relax.nn.gelu": gelu,
    "relax.nn.gelu_tanh": gelu_tanh,
    "relax.broadcast_to": lambda x: x,
}
# Functions of the call's attributes as well.
_SPECIAL: dict[str, Build] = {
    "relax.nn.leakyrelu": lambda call, x: ["where", ["less", x, c(0)], ["multiply", x, c(call.attrs.alpha)], x],
    "relax.clip": lambda call, x: [
        "minimum",
        ["maximum", x, c(float(call.args[1].value))],
        c(float(call.args[2].value)),
    ],
    "relax.astype": lambda _call, x: ["float32", x],
}


def convert(rewriter: Rewriter, call: Any) -> Any:
    """A `float_map` of operands and results whose types it knows."""
    name, out = call.op.name, spec_of(call)
    require(out.dtype == "float32" or (out.dtype == "bool" and name not in ("relax.clip", "relax.astype")))
    tensors = [a for a in call.args if hasattr(a, "ty") and hasattr(a.ty, "dtype") and hasattr(a.ty, "shape")]
    # Integers only where they are converted; conditions where they are asked for.
    known = _CONVERTED if name == "relax.astype" else ("float32", "bool")
    require(tensors and all(spec_of(a).dtype in known for a in tensors))
    fused = Fused(rewriter, call, out.shape)
    parts = [fused.part(a) for a in tensors]
    # A single value, a scale for instance, takes no time, and whatever it scales has its last bit.
    exact = name == "relax.divide" and math.prod(out.shape) == 1
    build = _same("quotient") if exact else _PLAIN.get(name)
    expression = build(*parts) if build else _SPECIAL[name](call, *parts)
    require(expression[0] != "x" or spec_of(tensors[0]).shape != out.shape)
    return emit_map(expression, fused.operands, out.shape)


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
            return c(single_value(data))
        made = self._rewriter.definition(operand)
        if made is not None and self._only_here(operand):
            if qnn.is_qnn(made, "float_map") and self._fits(made):
                return self._take(tree(qnn.attributes(made, FloatMapAttributes)), list(made.args))
            if qnn.is_qnn(made, "dequantize") and self._plain_dequantize(made):
                return self._dequantized(made)
        return self._operand(operand)

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
        added = functions(tree(qnn.attributes(made, FloatMapAttributes)))
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
        scale, zero = (float(single_value(constant(p))) for p in made.args[1:])
        x: Expression = ["float32", self._operand(made.args[0])]
        self._functions += 2
        # Differences of 8- and 16-bit integers are exact as floats.
        return ["multiply", ["subtract", x, c(zero)] if zero else x, c(scale)]


CONVERTERS = dict.fromkeys([*_PLAIN, *_SPECIAL], convert)
