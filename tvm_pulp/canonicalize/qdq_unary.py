"""Islands that are a function of one 8-bit tensor: the function's 256 results, computed in float32, are the layer.

Functions of a tensor's channels, by vectors of constants, have 256 results for each channel (`qdq_channels.py`).
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.byte_functions import byte_table, source_of
from tvm_pulp.canonicalize.qdq_rewriter import IntegerTarget, QdqRewriter, QuantizedTensor
from tvm_pulp.canonicalize.rewriter import Mismatch, constant, needed, or_none, relax_name, require, spec_of
from tvm_pulp.canonicalize.tflite_tables import reference_table

_erf = np.vectorize(math.erf, otypes=[np.float64])


def _gelu(x: np.ndarray) -> np.ndarray:
    return np.asarray(0.5 * x * (1 + _erf(x / np.float32(math.sqrt(2)))))


def _gelu_tanh(x: np.ndarray) -> np.ndarray:
    return np.asarray(0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))))


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-x.astype(np.float64))))


_AS_IN_NUMPY = "abs add ceil cos divide exp floor log maximum minimum multiply negative power sin sqrt square"
_AS_IN_NUMPY += " subtract tanh"
# Functions of arrays. Each result is rounded to float32, as the operator on its own would deliver it.
ELEMENTWISE: dict[str, Callable[..., np.ndarray]] = {
    **{f"relax.{name}": getattr(np, name) for name in _AS_IN_NUMPY.split()},
    "relax.erf": _erf,
    "relax.nn.gelu": _gelu,
    "relax.nn.gelu_tanh": _gelu_tanh,
    "relax.nn.relu": lambda x: np.maximum(x, np.float32(0)),
    "relax.nn.silu": lambda x: x * _sigmoid(x),
    "relax.round": np.rint,
    "relax.rsqrt": lambda x: 1 / np.sqrt(x),
    "relax.sigmoid": _sigmoid,
}


@or_none
def lookup(fold: QdqRewriter, real: Any, target: IntegerTarget) -> Any:
    """A table lookup for the island that ends in `real`, or None."""
    leaf, values = needed(function_of_byte(fold, real))
    require(spec_of(leaf).shape == spec_of(real).shape)
    table = reference_table(fold, real, _own_operand(fold, real), values, target)
    return qnn.emit("lookup", [leaf, np.broadcast_to(target.quantize(values), (256,)) if table is None else table])


def _own_operand(fold: QdqRewriter, real: Any) -> QuantizedTensor | None:
    """The quantized tensor that an operator, or the chain it was written as, begins with."""
    while True:
        x = fold.quantized(real)
        call = fold.definition(real)
        if x is not None or not isinstance(call, relax.Call):
            return x
        moving = [a for a in call.args if fold.real_constant(a) is None and isinstance(a, relax.Var)]
        if not moving:
            return None
        real = moving[0]


@or_none
def function_of_byte(fold: QdqRewriter, real: Any) -> tuple[Any, np.ndarray]:
    """The one 8-bit tensor that a float value depends on, and the values for each of its 256.

    SiLU is written as x * sigmoid(x), and both x and its sigmoid are quantized on their own: where quantizations are
    ONNX's they are part of the function.
    """
    island = _Island(fold, through_tables=fold.arithmetic.name == "onnx")
    values = island.evaluate(real)
    require(values.ndim == 1)
    return needed(island.leaf), values


@or_none
def function_of_channels(fold: QdqRewriter, real: Any) -> tuple[Any, int, np.ndarray]:
    """The one 8-bit tensor that a float value depends on, the axis of its channels, and 256 values for each of them."""
    island = _Island(fold, through_tables=False)
    values = island.evaluate(real)
    axis = needed(island.axis) + len(spec_of(needed(island.leaf)).shape)
    require(axis >= 0 and values.ndim == 2)
    return island.leaf, axis, np.broadcast_to(values, (len(values), 256))


class _Island:
    """Evaluates float expressions for all 256 values of their one quantized operand.

    `through_tables`: what was looked up in a table counts as a function of what it was looked up by.
    `axis`: where constants differ, counted from behind the last axis; results have a row for each of its entries.
    """

    def __init__(self, fold: QdqRewriter, *, through_tables: bool) -> None:
        self.fold = fold
        self.through_tables = through_tables
        self.leaf: Any = None
        self.axis: int | None = None

    def evaluate(self, expression: Any) -> np.ndarray:
        """The value for every byte of the operand; a mismatch where the expression depends on something else."""
        known = self.fold.real_constant(expression)
        if known is not None:
            return self._constant(known)
        x = self.fold.quantized(expression)
        if x is not None:
            return self._operand(x)
        call = expression if isinstance(expression, relax.Call) else self.fold.definition(expression)
        with np.errstate(all="ignore"):
            return np.asarray(self._call(call), np.float32)

    def _constant(self, known: np.ndarray) -> np.ndarray:
        """One number, or a column of them."""
        require(known.dtype == np.float32 and known.size)
        if (known == known.flat[0]).all():
            return known.reshape(-1)[:1]
        axes = [axis - known.ndim for axis, extent in enumerate(known.shape) if extent > 1]
        require(len(axes) == 1 and self.axis in (None, axes[0]))
        self.axis = axes[0]
        return known.reshape(-1, 1)

    def _operand(self, x: QuantizedTensor) -> np.ndarray:
        require(x.dtype in qnn.BYTES)
        leaf, values = x.value, x.every_value
        while self.through_tables and (table := byte_table(self.fold.definition(leaf))) is not None:
            call = self.fold.definition(leaf)
            leaf, values = call.args[source_of(call)], qnn.looked_up(values, table)
        return self._of_leaf(leaf, values)

    def _of_leaf(self, leaf: Any, values: np.ndarray) -> np.ndarray:
        require(self.leaf is None or self.leaf.same_as(leaf))
        self.leaf = leaf
        return values

    def _call(self, call: Any) -> np.ndarray:
        name = relax_name(call)
        if qnn.is_qnn(call, "lookup") and (table := constant(call.args[1])).dtype == np.float32:
            return self._of_leaf(call.args[0], table)
        if name in ELEMENTWISE:
            return ELEMENTWISE[name](*(self.evaluate(a) for a in call.args))
        if name == "relax.clip":
            low, high = (np.float32(float(a.value)) for a in call.args[1:])
            return np.clip(self.evaluate(call.args[0]), low, high)
        if name == "relax.nn.leakyrelu":
            x = self.evaluate(call.args[0])
            return np.where(x >= 0, x, x * np.float32(call.attrs.alpha))
        if name == "relax.nn.prelu":
            x, slope = self.evaluate(call.args[0]), needed(self.fold.real_constant(call.args[1]))
            behind = len(spec_of(call).shape) - 1 - int(call.attrs.axis) % len(spec_of(call).shape)
            return np.where(x >= 0, x, x * self._constant(slope.reshape(-1, *[1] * behind)))
        raise Mismatch
