"""TIR expressions as C text, with as few parentheses as C needs."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

C_TYPES = {
    "bool": "bool",
    "int8": "int8_t",
    "uint8": "uint8_t",
    "int16": "int16_t",
    "uint16": "uint16_t",
    "int32": "int32_t",
    "uint32": "uint32_t",
    "int64": "int64_t",
    "uint64": "uint64_t",
    "float32": "float",
    "float64": "double",
}

# C precedence, higher binds tighter.
_ATOM, _UNARY, _TERNARY = 100, 90, 10
_BINARY: dict[str, tuple[str, int]] = {
    "Mul": ("*", 80),
    "Div": ("/", 80),
    "Mod": ("%", 80),
    "Add": ("+", 70),
    "Sub": ("-", 70),
    "LT": ("<", 50),
    "LE": ("<=", 50),
    "GT": (">", 50),
    "GE": (">=", 50),
    "EQ": ("==", 45),
    "NE": ("!=", 45),
    "And": ("&&", 20),
    "Or": ("||", 15),
    "RShift": (">>", 60),
    "LShift": ("<<", 60),
    "BitwiseAnd": ("&", 40),
    "BitwiseXor": ("^", 35),
    "BitwiseOr": ("|", 30),
}
# Operators gcc and clang want parenthesised when mixed with others.
_MIXED = {">>", "<<", "&", "^", "|", "&&", "||", "<", "<=", ">", ">=", "==", "!="}
# Float functions the runtime's own math library offers.
_MATH = {
    *("log", "pow", "sin", "cos", "floor", "ceil", "round", "nearbyint", "trunc", "fabs", "log2", "exp2", "fmod"),
    "atan2",
}
# Those that float_functions.h has in fewer instructions.
_FAST = {"exp", "erf", "tanh", "sqrt", "rsqrt", "sigmoid"}


def c_type(dtype: Any) -> str:
    return C_TYPES[str(dtype)]


def float_literal(value: float, dtype: str = "float32") -> str:
    """A constant that reads back to the same bits."""
    suffix = "" if dtype == "float64" else "f"
    if dtype != "float64":
        with np.errstate(over="ignore"):  # beyond the largest float lies infinity
            value = float(np.float32(value))
    if math.isinf(value):
        return f"{'-' if value < 0 else ''}__builtin_inf{suffix}()"
    if math.isnan(value):
        return f'__builtin_nan{suffix}("")'
    text = f"{value:.9g}" if suffix else repr(value)
    return f"{text}{suffix}" if any(c in text for c in ".e") else f"{text}.0{suffix}"


def int_literal(value: int, dtype: str) -> str:
    if dtype == "bool":
        return "true" if value else "false"
    if dtype == "int64":
        if value == -(1 << 63):
            return "INT64_MIN"
        return f"(-INT64_C({-value}))" if value < 0 else f"INT64_C({value})"
    if dtype == "uint64":
        return f"UINT64_C({value % (1 << 64)})"
    if dtype == "int32" and value == -(1 << 31):
        return "INT32_MIN"
    if dtype == "uint32":
        return f"{value}u"
    return str(value)


class Expressions:
    """Prints expressions; `name_of` gives the C name of a variable or buffer."""

    def __init__(self, name_of: Callable[[Any], str]) -> None:
        self._name_of = name_of
        self.math_used: set[str] = set()

    def text(self, expression: Any) -> str:
        return self._print(expression)[0]

    def index(self, buffer: Any, indices: Any) -> str:
        """Flat row-major index of a buffer access."""
        flat: Any = None
        for size, index in zip(buffer.shape, indices, strict=True):
            if int(size) == 1 or (type(index).__name__ == "IntImm" and int(index.value) == 0):
                flat = None if flat is None else flat * size if int(size) > 1 else flat
            else:
                flat = index if flat is None else flat * size + index
        return "0" if flat is None else self.text(flat)

    def _wrap(self, expression: Any, level: int, operator: str = "") -> str:
        text, inner = self._print(expression)
        if inner < level or (operator in _MIXED and inner < _UNARY):
            return f"({text})"
        return text

    def _print(self, e: Any) -> tuple[str, int]:
        kind = type(e).__name__
        if kind == "IntImm":
            text = int_literal(int(e.value), _dtype(e))
            return text, (_UNARY if text.startswith("-") else _ATOM)
        if kind == "FloatImm":
            return float_literal(float(e.value), _dtype(e)), _ATOM
        if kind == "Var":
            return self._name_of(e), _ATOM
        if kind == "TensorLoad":
            if is_scalar_buffer(e.source):
                return self._name_of(e.source), _ATOM
            return f"{self._name_of(e.source)}[{self.index(e.source, e.indices)}]", _ATOM
        if kind == "Mod" and _dtype(e).startswith("float"):  # C has none of floats
            self.math_used.add("fmod")
            return f"tvm_pulp_fmodf({self.text(e.a)}, {self.text(e.b)})", _ATOM
        if kind in _BINARY:
            return self._binary(*_BINARY[kind], e.a, e.b)
        if kind in ("Min", "Max"):
            return self._extreme(e, "<" if kind == "Min" else ">")
        if kind in ("FloorDiv", "FloorMod"):
            return self._floor(e, kind)
        if kind in ("Not", "BitwiseNot"):
            return f"{'!' if kind == 'Not' else '~'}{self._wrap(e.a, _UNARY)}", _UNARY
        if kind == "Cast":
            if (_dtype(e.value), _dtype(e)) == ("int64", "float32"):
                return f"tvm_pulp_float_of_int64({self.text(e.value)})", _ATOM
            return f"({c_type(_dtype(e))}){self._wrap(e.value, _UNARY)}", _UNARY
        if kind == "Select":
            return self._ternary(e.condition, e.true_value, e.false_value)
        if kind == "Call":
            return self._call(e)
        raise TypeError(f"no C form for {kind}: {e}")

    def _binary(self, operator: str, level: int, a: Any, b: Any) -> tuple[str, int]:
        return f"{self._wrap(a, level, operator)} {operator} {self._wrap(b, level + 1, operator)}", level

    def _ternary(self, condition: Any, yes: Any, no: Any) -> tuple[str, int]:
        parts = (self._wrap(condition, _TERNARY + 1, "&&"), self._wrap(yes, _TERNARY + 1), self._wrap(no, _TERNARY + 1))
        return f"{parts[0]} ? {parts[1]} : {parts[2]}", _TERNARY

    def _extreme(self, e: Any, operator: str) -> tuple[str, int]:
        if _dtype(e) == "int32":
            name = "tvm_pulp_min" if operator == "<" else "tvm_pulp_max"
            return f"{name}({self.text(e.a)}, {self.text(e.b)})", _ATOM
        a, b = self._wrap(e.a, _UNARY), self._wrap(e.b, _UNARY)
        return f"({a} {operator} {b} ? {a} : {b})", _ATOM

    def _floor(self, e: Any, kind: str) -> tuple[str, int]:
        """Indices and unsigned words never go below zero, where C's operators agree; shorter types are ints in C."""
        if _dtype(e) in ("uint32", "uint64") or (_never_negative(e.a) and _never_negative(e.b)):
            return self._binary("/" if kind == "FloorDiv" else "%", 80, e.a, e.b)
        name = "tvm_pulp_floor_divide" if kind == "FloorDiv" else "tvm_pulp_floor_modulo"
        return f"{name}_{64 if _dtype(e) == 'int64' else 32}({self.text(e.a)}, {self.text(e.b)})", _ATOM

    def _call(self, e: Any) -> tuple[str, int]:
        name = e.op.name.removeprefix("tirx.").removeprefix("prim.")
        if name in ("call_pure_extern", "call_extern"):
            function = str(e.args[0].value)
            if function == "tvm_pulp_power":  # what it leaves to the functions of the folder `math`
                self.math_used |= {"log", "pow"}
            if function == "tvm_pulp_modulof":
                self.math_used.add("fmod")
            return f"{function}({', '.join(self.text(a) for a in e.args[1:])})", _ATOM
        if name == "if_then_else":
            return self._ternary(*e.args)
        if name in ("isnan", "isinf", "isfinite"):
            return f"__builtin_{name}({self.text(e.args[0])})", _ATOM
        if name == "likely":
            return self._print(e.args[0])
        if name == "abs" and not _dtype(e).startswith("float"):
            value = self._wrap(e.args[0], _UNARY)
            return f"({value} < 0 ? -{value} : {value})", _ATOM
        name = "fabs" if name == "abs" else name
        if name in _FAST:
            return f"tvm_pulp_{name}({', '.join(self.text(a) for a in e.args)})", _ATOM
        if name in _MATH:
            self.math_used.add(name)
            return f"tvm_pulp_{name}f({', '.join(self.text(a) for a in e.args)})", _ATOM
        if name == "address_of":
            load = e.args[0]
            place, base = self.index(load.source, load.indices), self._name_of(load.source)
            return (base if place == "0" else f"&{base}[{place}]"), _ATOM
        raise TypeError(f"no C form for {e.op.name}")


def _dtype(e: Any) -> str:
    return str(e.ty.dtype) if hasattr(e.ty, "dtype") else str(e.expr_ty())


def is_scalar_buffer(buffer: Any) -> bool:
    """A local variable: a buffer of one element in scope `local`."""
    return bool(buffer.scope() == "local" and len(buffer.shape) == 1 and int(buffer.shape[0]) == 1)


def _never_negative(e: Any) -> bool:
    """Loop variables, constants and their sums, products and quotients."""
    kind = type(e).__name__
    if kind == "IntImm":
        return int(e.value) >= 0
    if kind == "Var":
        return True
    if kind in ("Add", "Mul", "FloorDiv", "FloorMod", "Div", "Mod", "Max"):
        return _never_negative(e.a) and _never_negative(e.b)
    if kind == "Cast":
        return _never_negative(e.value)
    return False
