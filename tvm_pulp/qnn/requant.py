"""Requantization: from a 32-bit accumulator to the next layer's integers.

Frameworks round differently, so the rule is an attribute of each operator:

* `none`    the accumulator itself.
* `pulp`    `clip((acc * mul + add) >> shift)`. The rounding half of the PULP form is already inside `add`.
* `tflite`  fixed-point multiplier with TFLite's two roundings, then the zero point, then clip.
* `half_up`, `half_even`  `acc * mul / 2^shift` rounded once to nearest (ties up, ties to even), then the zero point,
  then clip. TFLite's reference fully connected kernel rounds half up; ONNX rounds half to even.
* `offset_half_even`  as `half_even`, of `acc * mul + offset`: ONNX's layers with a bias of floats. The second tensor
  holds `offset + shift`, where the offset is a multiple of 64.
* `shift`   `clip((acc + add) >> shift)`, what is left after an engine has multiplied; no frontend produces it, nor its
  variants for halves: `shift_even`, and `shift_away`, where a sum below zero loses the rule's own `shift` first.

`mul` and `add` (`exponent` for `tflite`, `shift` for the roundings) are constant tensors of one element or one per
channel; for `shift` they are the shift and the summand.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvm_pulp.qnn import fixed_point
from tvm_pulp.qnn.tensor_spec import BYTES, RANGES

# Added to the shift of a channel whose halves go to the even result.
TO_EVEN = 32
SINGLE_ROUNDINGS = {
    "half_up": fixed_point.scale_half_up,
    "half_even": fixed_point.scale_half_even,
    "offset_half_even": fixed_point.scale_offset_half_even,
}

# Fields that are stated as integers.
_NUMBERS = ("shift", "zero_point", "low", "high", "wide")


@dataclass(frozen=True)
class Requant:
    """The scalar part of a requantization."""

    kind: str = "none"
    shift: int = 0
    zero_point: int = 0
    low: int = 0
    high: int = 0
    # The product needs 64 bits: set unless a static bound proves that 32 are enough. For `tflite`: its high word is not
    # enough (see `is_short`).
    wide: bool = True
    # Element type of the result where the range alone does not tell (unsigned values that stay below 128).
    dtype: str = ""

    @property
    def operands(self) -> int:
        """Number of constant tensors the rule needs."""
        return 0 if self.kind == "none" else 2

    def attributes(self, prefix: str = "requant") -> dict[str, Any]:
        """As flat operator attributes."""
        if self.kind == "none":
            return {prefix: "none"}
        stated = {f"{prefix}_dtype": self.dtype} if self.dtype else {}
        return {**stated, prefix: self.kind, **{f"{prefix}_{name}": int(getattr(self, name)) for name in _NUMBERS}}

    @staticmethod
    def of(attributes: Mapping[str, Any], prefix: str = "requant") -> "Requant":
        """The rule among attributes of an operator, `none` where they have none; also of flat plain values."""
        stated = getattr(attributes, prefix, None)
        if isinstance(stated, Requant):
            return stated
        kind = attributes.get(prefix, "none")
        if kind == "none":
            return Requant()
        shift, zero_point, low, high, wide = (int(attributes[f"{prefix}_{name}"]) for name in _NUMBERS)
        return Requant(kind, shift, zero_point, low, high, bool(wide), attributes.get(f"{prefix}_dtype", ""))

    @property
    def out_dtype(self) -> str:
        """The stated type, else the narrowest that holds the clipped result."""
        if self.kind == "none":
            return "int32"
        if self.dtype:
            return self.dtype
        if self.low >= -128 and self.high <= 127:
            return "int8"
        if self.low >= 0 and self.high <= 255:
            return "uint8"
        return "int32"

    @property
    def is_whole_byte(self) -> bool:
        """Tell if the result is a byte that can have every value."""
        return self.out_dtype in BYTES and (self.low, self.high) == RANGES[self.out_dtype]

    def apply(self, acc: np.ndarray, operands: Sequence[np.ndarray], axis: int = -1) -> np.ndarray:
        """Numpy reference; `axis` is the axis that per-channel operands run along."""
        if self.kind == "none":
            return acc.astype(np.int32)
        first, second = (along(np.asarray(o, np.int64), axis, acc.ndim) for o in operands)
        acc = acc.astype(np.int64)
        if self.kind == "pulp":
            value = (acc * first + second) >> self.shift
        elif self.kind == "shift":
            value = (acc + second) >> first
        elif self.kind == "shift_even":
            # The summand holds half a unit: a multiple of the unit was a half, and an odd one loses its last step.
            shift, total = first % TO_EVEN, acc + second
            value = total - (((total >> shift) ^ self.zero_point) & first // TO_EVEN) >> shift
        elif self.kind == "shift_away":
            total = acc + second
            value = (total - np.where(total < 0, self.shift, 0) + ((2 * self.zero_point + 1) << first >> 1)) >> first
        elif self.kind in SINGLE_ROUNDINGS:
            value = SINGLE_ROUNDINGS[self.kind](acc, first, second) + self.zero_point
        else:
            value = fixed_point.multiply(acc, first, second) + self.zero_point
        return np.clip(value, self.low, self.high).astype(self.out_dtype)

    def expression(self, acc: Any, operands: Sequence[Any], channel: Any) -> Any:
        """TIR value for accumulator `acc`; `channel` indexes per-channel operands."""
        from tvm_pulp.qnn.loops import call

        if self.kind == "none":
            return acc
        picked = [o[0] if int(o.shape[0]) == 1 else o[channel] for o in operands]
        if self.kind == "pulp":
            name = "requantize_wide" if self.wide else "requantize"
            value = call(name, acc, *picked, self.shift, self.low, self.high)
        elif self.kind == "shift":
            value = call("requantize", acc, 1, picked[1], picked[0], self.low, self.high)
        elif self.kind == "shift_even":
            shift, total = picked[0] % TO_EVEN, acc + picked[1]
            odd = ((total >> shift) ^ self.zero_point) & (picked[0] // TO_EVEN)
            value = call("requantize", total - odd, 1, 0, shift, self.low, self.high)
        elif self.kind == "shift_away":
            total, half = acc + picked[1], ((2 * self.zero_point + 1) << picked[0]) >> 1
            away = (total >> 31) * self.shift
            value = call("requantize", total + away, 1, half, picked[0], self.low, self.high)
        else:
            is_long = str(acc.ty.dtype if hasattr(acc, "ty") else acc.dtype) == "int64"
            variant = "_64" if is_long else "_short" if self.kind == "tflite" and not self.wide else ""
            value = call(f"requantize_{self.kind}{variant}", acc, *picked, self.zero_point, self.low, self.high)
        return value.astype(self.out_dtype)

    def tensors(self, operands: Sequence[Any]) -> list[Any]:
        """The constants of the rule, which come behind all other operands."""
        return list(operands[len(operands) - self.operands :])


def along(values: np.ndarray, axis: int, rank: int) -> np.ndarray:
    """A vector laid along one axis of a tensor of the given rank."""
    if values.size == 1:
        return values.reshape(())
    shape = [1] * rank
    shape[axis] = values.size
    return values.reshape(shape)


def weighted_reach(weights: np.ndarray, largest: int, bias: np.ndarray | None = None) -> int:
    """The largest |sum| of inputs up to `largest` times weights, whose first axis is that of the sums, and a bias."""
    total = np.abs(weights.astype(np.int64)).reshape(weights.shape[0], -1).sum(axis=1) * largest
    if bias is not None:
        total = total + np.abs(bias.astype(np.int64))
    return int(total.max(initial=0))


def narrow_enough(accumulator: int, mul: np.ndarray, add: np.ndarray) -> bool:
    """Tell whether `acc * mul + add` stays inside 32 bits for every |acc| up to `accumulator`."""
    reach = accumulator * np.abs(mul.astype(np.int64)).max(initial=0) + np.abs(add.astype(np.int64)).max(initial=0)
    return bool(reach < 1 << 31)


def is_short(least: np.ndarray, most: np.ndarray, operands: Sequence[np.ndarray], zero_point: int) -> bool:
    """Tell whether C's short form of `tflite` holds for accumulators from `least` to `most`: all of it in 32 bits."""
    mul, exponent = (np.asarray(o, np.int64) for o in operands)
    if min(least.min(), -most.max()) < -(1 << 30) or not ((mul >= 0) & (exponent >= -20) & (exponent <= -1)).all():
        return False
    half = np.int64(1) << -exponent
    summand = 1 + half + 2 * half * zero_point
    values = (2 * least, 2 * most, summand, (least * mul >> 30) - 2 + summand, (most * mul >> 30) + summand)
    return all(bool((np.abs(v + 0.5) < 1 << 31).all()) for v in values)
