"""Integers, scales and zero points behind the float values of a quantize/dequantize graph, and what they become."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tvm_pulp.canonicalize.rewriter import constant, integers, is_op, needed, or_none, require, single_value, spec_of
from tvm_pulp.qnn.requant import Requant, along
from tvm_pulp.qnn.tensor_spec import RANGES, every_value

# A scale: float32 as files store it, or wider where constant factors were folded in.
Real = float | np.float32
RESHAPES = ("relax.reshape", "relax.expand_dims", "relax.squeeze", "relax.flatten")


@dataclass(frozen=True)
class QuantizedTensor:
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
        """The float that each of the 256 values of an 8-bit tensor stands for, smallest first."""
        return np.asarray(self.every_distance.astype(np.float32) * self.scale, np.float32)

    @property
    def every_distance(self) -> np.ndarray:
        """Each of the 256 values of an 8-bit tensor without the zero point."""
        return every_value(self.dtype).astype(np.int64) - self.zero_point

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

    def rearranged(self, how: Callable[[np.ndarray], np.ndarray]) -> "QuantizedConstant":
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
    """The integers that a float value becomes: the parameters of a quantize and the range that activations leave."""

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

    def requant(self, kind: str) -> Requant:
        """The rule that rounds accumulators to these integers."""
        return Requant(kind, 0, self.zero_point, self.low, self.high, dtype=self.dtype)

    def within(self, low: int | None, high: int | None) -> "IntegerTarget":
        """The target with a tighter range."""
        floor = self.low if low is None else min(max(self.low, low), self.high)
        ceiling = self.high if high is None else max(min(self.high, high), self.low)
        return replace(self, low=floor, high=ceiling)


@dataclass
class Accumulators:
    """A target for layers whose result goes on before it is rounded: 32-bit accumulators.

    A layer takes it instead of a quantization; afterwards it says what one unit of each channel is worth.
    """

    units: np.ndarray = field(default_factory=lambda: np.zeros(0))
    # No accumulator is larger than this, whatever the input.
    reach: int = 0
    # Sums of two layers may come as floats: whoever takes them makes floats of accumulators anyway.
    may_be_real: bool = False

    # Axis of the channels, counted from behind.
    axis: int = -1

    def take(self, units: np.ndarray, reach: int, axis: int = -1) -> tuple[Requant, list[np.ndarray]]:
        """The rule that leaves accumulators as they are, and its constants: none."""
        self.units, self.reach, self.axis = units, reach, axis
        return Requant(), []


def quantization_of(call: Any) -> tuple[np.float32, int]:
    """Scale and zero point of a `quantize` or `dequantize`, which must be constant and one for all."""
    scale, zero_point = (needed(single_value(constant(a))) for a in call.args[1:3])
    return np.float32(scale), int(zero_point)


@or_none
def target_of(quantize: Any) -> IntegerTarget:
    """Parameters of a `quantize` call; None when they are not constant or run along an axis."""
    dtype = str(quantize.attrs.out_dtype)
    require(dtype in RANGES)
    return IntegerTarget(*quantization_of(quantize), dtype, *RANGES[dtype])


def movement(call: Any) -> Callable[[np.ndarray], np.ndarray] | None:
    """An operator that only moves elements, as a function on arrays."""
    if is_op(call, *RESHAPES):
        shape = tuple(integers(call.ty.shape.values)) if call.ty is not None else None
        if shape is None and is_op(call, "relax.reshape"):
            shape = tuple(integers(call.args[1].values))
        return (lambda array: np.reshape(array, shape)) if shape is not None else None
    if is_op(call, "relax.permute_dims"):
        axes = integers(call.attrs.axes) if call.attrs.axes else None
        return lambda array: np.transpose(array, axes)
    return None


def dequantized_constant(call: Any) -> QuantizedConstant:
    """The integers that a `dequantize` of constants makes floats of."""
    values, scale, zero_point = (needed(constant(a)) for a in call.args)

    def spread(vector: np.ndarray) -> np.ndarray:
        return np.broadcast_to(along(vector, int(call.attrs.axis), values.ndim), values.shape)

    return QuantizedConstant(values, spread(scale.astype(np.float32)), spread(zero_point.astype(np.int64)))
