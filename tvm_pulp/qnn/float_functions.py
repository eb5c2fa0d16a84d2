"""Functions that expressions of `float_map` are made of: in numpy, and as TIR over the helpers of the C runtime."""

import math
import operator
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


def _quantize(dtype: str) -> Function:
    """x, scale, 1 / scale, zero point: all but the first are constants."""

    def in_numpy(x: Any, scale: Any, _reciprocal: Any, zero: Any) -> Any:
        return quantized(x, scale, zero, dtype)

    def in_tir(x: Any, scale: Any, reciprocal: Any, zero: Any) -> Any:
        low, high = RANGES[dtype]
        sure = tirx.const(float(np.float32(scale.value) * np.float32(sure_share(dtype))), "float32")
        return call("quantize", x, scale, reciprocal, sure, int(zero.value), low, high).astype(dtype)

    return Function(in_numpy, in_tir, dtype)


# Of one name in numpy and in TIR.
_ALIKE = "ceil cos floor log sin trunc"
FUNCTIONS: dict[str, Function] = {
    "add": Function(np.add, operator.add),
    "subtract": Function(np.subtract, operator.sub),
    "multiply": Function(np.multiply, operator.mul),
    "divide": Function(np.divide, _helper("divide")),
    # As IEEE 754 rounds it; the cores share one divider.
    "quotient": Function(np.divide, operator.truediv),
    "maximum": Function(np.fmax, _helper("fmax")),
    "minimum": Function(np.fmin, _helper("fmin")),
    "negative": Function(np.negative, lambda x: tirx.const(0, "float32") - x),
    "abs": Function(np.abs, tirx.abs),
    **{name: Function(getattr(np, name), _helper(name)) for name in ("exp", "sqrt", "tanh")},
    **{name: Function(getattr(np, name), getattr(tirx, name)) for name in _ALIKE.split()},
    "rsqrt": Function(lambda x: np.float32(1) / np.sqrt(x), _helper("rsqrt")),
    "sigmoid": Function(_sigmoid, _helper("sigmoid")),
    "erf": Function(_erf, _helper("erf")),
    # The same as part of a loop instead of a function that it calls.
    "inline_sigmoid": Function(_sigmoid, _helper("inline_sigmoid")),
    "inline_tanh": Function(np.tanh, _helper("inline_tanh")),
    "inline_erf": Function(_erf, _helper("inline_erf")),
    "power": Function(np.power, _helper("power")),
    "round": Function(np.rint, tirx.nearbyint),
    "less": Function(np.less, operator.lt, "bool"),
    "less_equal": Function(np.less_equal, operator.le, "bool"),
    "greater": Function(np.greater, operator.gt, "bool"),
    "greater_equal": Function(np.greater_equal, operator.ge, "bool"),
    "equal": Function(np.equal, tirx.EQ, "bool"),
    "not_equal": Function(np.not_equal, tirx.NE, "bool"),
    "logical_and": Function(np.logical_and, tirx.And, "bool"),
    "logical_or": Function(np.logical_or, tirx.Or, "bool"),
    "logical_not": Function(np.logical_not, tirx.Not, "bool"),
    "where": Function(np.where, tirx.Select),
    "float32": _cast("float32"),
    "int32": _cast("int32"),
    **{f"quantize_{dtype}": _quantize(dtype) for dtype in TYPES},
}
