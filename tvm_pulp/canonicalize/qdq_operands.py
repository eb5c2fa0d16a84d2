"""What stands behind the float values of a quantize/dequantize graph: integers, scales, zero points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp.canonicalize.rewriter import constant, is_op
from tvm_pulp.qnn.operator import spec_of
from tvm_pulp.qnn.tensor_spec import RANGES

# A scale: float32 as files store it, or wider where constant factors were folded in.
Real = float | np.float32


@dataclass(frozen=True)
class Quantized:
    """An integer tensor `value` that stands for scale * (value - zero_point)."""

    value: Any
    scale: np.float32
    zero_point: int

    @property
    def shape(self) -> tuple[int, ...]:
        return spec_of(self.value).shape

    @property
    def dtype(self) -> str:
        return spec_of(self.value).dtype

    @property
    def reach(self) -> int:
        """Largest |value - zero_point|."""
        low, high = RANGES[self.dtype]
        return max(self.zero_point - low, high - self.zero_point)

    @property
    def every_value(self) -> np.ndarray:
        """What each of the 256 values of an 8-bit tensor stands for, smallest first."""
        low, high = RANGES[self.dtype]
        return np.asarray((np.arange(low, high + 1) - self.zero_point).astype(np.float32) * self.scale, np.float32)

    def same_as(self, scale: Real, zero_point: int) -> bool:
        return bool(self.scale == scale and self.zero_point == zero_point)


@dataclass(frozen=True)
class QuantizedConstant:
    """Constant integers; scale and zero point are spread to the same shape, so that every reshape is safe."""

    values: np.ndarray
    scale: np.ndarray
    zero_point: np.ndarray
    # Float numbers in 16 bits: near enough, not what the model says.
    is_near: bool = False

    def rearranged(self, how: Callable[[np.ndarray], np.ndarray]) -> QuantizedConstant:
        """The same data after an operation that only moves elements."""
        return QuantizedConstant(how(self.values), how(self.scale), how(self.zero_point), self.is_near)

    @property
    def centred(self) -> np.ndarray:
        """Integers without their zero point, in the narrowest type."""
        exact = self.values.astype(np.int64) - self.zero_point
        low, high = (int(exact.min()), int(exact.max())) if exact.size else (0, 0)
        dtype = next(t for t in ("int8", "int16", "int32", "int64") if RANGES[t][0] <= low and high <= RANGES[t][1])
        return np.asarray(exact.astype(dtype))

    @property
    def real(self) -> np.ndarray:
        """The float values, computed as DequantizeLinear does."""
        difference = (self.values.astype(np.int64) - self.zero_point).astype(np.float32)
        return np.asarray(difference * self.scale, np.float32)

    def channel_scales(self) -> np.ndarray | None:
        """One scale per entry of the first axis; None where a scale changes inside an entry."""
        rows = self.scale.reshape(self.scale.shape[0], -1)
        return np.asarray(rows[:, 0]) if (rows == rows[:, :1]).all() else None


@dataclass(frozen=True)
class IntegerTarget:
    """Where a float value goes: the parameters of a quantize and the range that activations leave."""

    scale: Real
    zero_point: int
    dtype: str
    low: int
    high: int

    def quantize(self, real: np.ndarray) -> np.ndarray:
        """Float values as QuantizeLinear rounds them."""
        with np.errstate(over="ignore", invalid="ignore"):
            rounded = np.rint(np.asarray(real, np.float32) / np.float32(self.scale))
            # Not a number becomes the lowest value, as in onnxruntime.
            limited = np.clip(np.nan_to_num(rounded, nan=-np.inf), -(1 << 30), 1 << 30).astype(np.int64)
        limited = limited + self.zero_point
        return np.clip(limited, self.low, self.high).astype(self.dtype)

    def within(self, low: int | None, high: int | None) -> IntegerTarget:
        """The target with a tighter range."""
        floor = self.low if low is None else min(max(self.low, low), self.high)
        ceiling = self.high if high is None else max(min(self.high, high), self.low)
        return replace(self, low=floor, high=ceiling)


def target_of(quantize: Any) -> IntegerTarget | None:
    """Parameters of a `quantize` call; None when they are not constant or run along an axis."""
    scale, zero_point = constant(quantize.args[1]), constant(quantize.args[2])
    if scale is None or zero_point is None or scale.size != 1 or zero_point.size != 1:
        return None
    dtype = str(quantize.attrs.out_dtype)
    if dtype not in RANGES:
        return None
    return IntegerTarget(np.float32(scale.reshape(-1)[0]), int(zero_point.reshape(-1)[0]), dtype, *RANGES[dtype])


class Operands:
    """Finds the integers behind float expressions, through the calls that define them."""

    def __init__(self, definition: Callable[[Any], Any]) -> None:
        self._definition = definition

    def quantized(self, expression: Any) -> Quantized | None:
        """The per-tensor quantized value behind a float expression."""
        held = self.quantized_constant(expression)
        if held is not None:
            if not held.values.size or np.ptp(held.scale) or np.ptp(held.zero_point):
                return None
            return Quantized(relax.const(held.values), held.scale.flat[0], int(held.zero_point.flat[0]))
        call = self._definition(expression)
        if not is_op(call, "relax.dequantize"):
            return None
        scale, zero_point = constant(call.args[1]), constant(call.args[2])
        if scale is None or zero_point is None or scale.size != 1 or zero_point.size != 1:
            return None
        if spec_of(call.args[0]).dtype not in RANGES:
            return None
        return Quantized(call.args[0], np.float32(scale.reshape(-1)[0]), int(zero_point.reshape(-1)[0]))

    def quantized_constant(self, expression: Any) -> QuantizedConstant | None:
        """Constant integers behind a float expression, through operators that only move elements."""
        call = self._definition(expression)
        if is_op(call, "relax.dequantize"):
            return _dequantized(call)
        move = movement(call)
        if move is None:
            return None
        inner = self.quantized_constant(call.args[0])
        return inner.rearranged(move) if inner is not None else None

    def real_constant(self, expression: Any) -> np.ndarray | None:
        """Float values of a constant expression, quantized or not."""
        array = constant(expression)
        if array is not None:
            return np.asarray(array)
        held = self.quantized_constant(expression)
        if held is not None:
            return held.real
        call = self._definition(expression)
        move = movement(call)
        inner = self.real_constant(call.args[0]) if move is not None else None
        return move(inner) if move is not None and inner is not None else None


def movement(call: Any) -> Callable[[np.ndarray], np.ndarray] | None:
    """An operator that only moves elements, as a function on arrays."""
    if any(is_op(call, f"relax.{name}") for name in ("reshape", "expand_dims", "squeeze", "flatten")):
        shape = tuple(int(d) for d in call.ty.shape.values) if call.ty is not None else None
        if shape is None and is_op(call, "relax.reshape"):
            shape = tuple(int(d) for d in call.args[1].values)
        return (lambda array: np.reshape(array, shape)) if shape is not None else None
    if is_op(call, "relax.permute_dims"):
        axes = [int(a) for a in call.attrs.axes] if call.attrs.axes else None
        return lambda array: np.transpose(array, axes)
    return None


def _dequantized(call: Any) -> QuantizedConstant | None:
    values, scale, zero_point = (constant(a) for a in call.args)
    if values is None or scale is None or zero_point is None:
        return None

    def spread(vector: np.ndarray) -> np.ndarray:
        if vector.size == 1:
            return np.broadcast_to(vector.reshape(()), values.shape)
        shape = [1] * values.ndim
        shape[int(call.attrs.axis)] = vector.size
        return np.broadcast_to(vector.reshape(shape), values.shape)

    return QuantizedConstant(values, spread(scale.astype(np.float32)), spread(zero_point.astype(np.int64)))
