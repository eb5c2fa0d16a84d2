"""Functions that expressions of `float_map` are made of: in numpy, and as TIR over the helpers of the C runtime."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.loops import call
from tvm_pulp.qnn.quantize import TYPES, quantized, sure_share
from tvm_pulp.qnn.tensor_spec import RANGES


@dataclass(frozen=True)
class Function:
    """`result`: the type, where it is not that of the last operand."""

    numpy: Callable[..., Any]
    tir: Callable[..., Any]
    result: str = ""


def _helper(name: str) -> Callable[..., Any]:
    return lambda *operands: call(name, *operands, dtype="float32")


def _cast(dtype: str) -> Function:
    return Function(lambda x: x.astype(dtype), lambda x: x.astype(dtype), dtype)


def _sigmoid(x: Any) -> Any:
    return np.float32(1) / (np.float32(1) + np.exp(-x))


def _erf(x: Any) -> Any:
    return np.vectorize(math.erf, otypes=[np.float32])(x)


def _select(condition: Any, yes: Any, no: Any) -> Any:
    return tirx.Select(condition, yes, no)


def _quantize(dtype: str) -> Function:
    """x, scale, 1 / scale, zero point: all but the first are constants."""

    def in_numpy(x: Any, scale: Any, _reciprocal: Any, zero: Any) -> Any:
        return quantized(x, scale, zero, dtype)

    def in_tir(x: Any, scale: Any, reciprocal: Any, zero: Any) -> Any:
        low, high = RANGES[dtype]
        sure = tirx.const(float(np.float32(scale.value) * np.float32(sure_share(dtype))), "float32")
        return call("quantize", x, scale, reciprocal, sure, int(zero.value), low, high).astype(dtype)

    return Function(in_numpy, in_tir, dtype)


FUNCTIONS: dict[str, Function] = {
    "add": Function(np.add, lambda a, b: a + b),
    "subtract": Function(np.subtract, lambda a, b: a - b),
    "multiply": Function(np.multiply, lambda a, b: a * b),
    "divide": Function(np.divide, _helper("divide")),
    # As IEEE 754 rounds it; the cores share one divider.
    "quotient": Function(np.divide, lambda a, b: a / b),
    "maximum": Function(np.fmax, _helper("fmax")),
    "minimum": Function(np.fmin, _helper("fmin")),
    "negative": Function(np.negative, lambda x: tirx.const(0, "float32") - x),
    "abs": Function(np.abs, tirx.abs),
    "exp": Function(np.exp, _helper("exp")),
    "log": Function(np.log, tirx.log),
    "sqrt": Function(np.sqrt, _helper("sqrt")),
    "rsqrt": Function(lambda x: np.float32(1) / np.sqrt(x), _helper("rsqrt")),
    "sigmoid": Function(_sigmoid, _helper("sigmoid")),
    "tanh": Function(np.tanh, _helper("tanh")),
    "erf": Function(_erf, _helper("erf")),
    # The same as part of a loop instead of a function that it calls.
    "inline_sigmoid": Function(_sigmoid, _helper("inline_sigmoid")),
    "inline_tanh": Function(np.tanh, _helper("inline_tanh")),
    "inline_erf": Function(_erf, _helper("inline_erf")),
    "sin": Function(np.sin, tirx.sin),
    "cos": Function(np.cos, tirx.cos),
    "power": Function(np.power, _helper("power")),
    "floor": Function(np.floor, tirx.floor),
    "ceil": Function(np.ceil, tirx.ceil),
    "trunc": Function(np.trunc, tirx.trunc),
    "round": Function(np.rint, tirx.nearbyint),
    "less": Function(np.less, lambda a, b: a < b, "bool"),
    "less_equal": Function(np.less_equal, lambda a, b: a <= b, "bool"),
    "greater": Function(np.greater, lambda a, b: a > b, "bool"),
    "greater_equal": Function(np.greater_equal, lambda a, b: a >= b, "bool"),
    "equal": Function(np.equal, lambda a, b: a.equal(b), "bool"),
    "not_equal": Function(np.not_equal, lambda a, b: tirx.NE(a, b), "bool"),
    "logical_and": Function(np.logical_and, lambda a, b: tirx.And(a, b), "bool"),
    "logical_or": Function(np.logical_or, lambda a, b: tirx.Or(a, b), "bool"),
    "logical_not": Function(np.logical_not, lambda a: tirx.Not(a), "bool"),
    "where": Function(np.where, _select),
    "float32": _cast("float32"),
    "int32": _cast("int32"),
    **{f"quantize_{dtype}": _quantize(dtype) for dtype in TYPES},
}
