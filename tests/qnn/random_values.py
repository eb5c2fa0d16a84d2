"""Random tensors and requantizations for kernel tests."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tvm_pulp.qnn import Requant, TensorSpec
from tvm_pulp.qnn.fixed_point import OFFSET_UNIT, pack_offset, quantize_multipliers, single_rounding_multipliers
from tvm_pulp.qnn.requant import narrow_enough

Rng = np.random.Generator

KINDS = ("none", "pulp", "pulp", "tflite", "half_up", "half_even", "offset_half_even")
# Low, high and stated type of a result.
_RESULTS = [(-128, 127, ""), (0, 255, ""), (0, 127, "uint8"), (-8, 7, ""), (-1000, 3000, ""), (0, 0, "uint8")]


def pick(rng: Rng, choices: Sequence[Any]) -> Any:
    return choices[int(rng.integers(len(choices)))]


def integers(rng: Rng, shape: Sequence[int], dtype: str = "int8") -> np.ndarray:
    """Values of the whole range; now and then all at one end of it, where sums are largest."""
    low, high = TensorSpec((), dtype).range
    ends = {0: (low, low), 1: (high, high)}
    chosen = ends.get(int(rng.integers(8)), (low, high))
    return rng.integers(*chosen, tuple(shape), endpoint=True).astype(dtype)


def byte_type(rng: Rng) -> str:
    return str(pick(rng, ("int8", "uint8")))


def zero_point(rng: Rng, dtype: str) -> int:
    """Often none; else any value of the type, or -128 of an unsigned neighbour."""
    low, high = TensorSpec((), dtype).range
    return int(pick(rng, (0, 0, low, high, int(rng.integers(low, high)))))


def magnitude(array: np.ndarray, zero: int = 0) -> int:
    """Largest |x - zero| over the type's range."""
    low, high = TensorSpec((), str(array.dtype)).range
    return max(abs(low - zero), abs(high - zero))


def requant(rng: Rng, bound: int, channels: int, kind: str | None = None) -> tuple[Requant, list[np.ndarray]]:
    """A rule for accumulators up to `bound`, with its tensors: one element or one per channel."""
    kind = kind or str(pick(rng, KINDS))
    if kind == "none":
        return Requant(), []
    low, high, dtype = pick(rng, _RESULTS)
    size = channels if rng.random() < 0.6 else 1
    bound = max(bound, 1)
    # The largest accumulator lands between 32 and 4096: sometimes inside the range, sometimes far outside.
    reals = 2.0 ** rng.uniform(5, 12, size) / bound
    zero = int(rng.integers(-128, 256))
    if kind == "tflite":
        mul, exponent = quantize_multipliers(reals)
        return Requant(kind, 0, zero, low, high, dtype=dtype), [mul, exponent]
    if kind in ("half_up", "half_even", "offset_half_even"):
        mul, shift = single_rounding_multipliers(reals)
        if rng.random() < 0.3:  # ties: a power of two as the multiplier
            mul, shift = np.full(size, 1 << 8, np.int32), np.full(size, 9 + bound.bit_length() // 2, np.int32)
        if kind == "offset_half_even":
            shift = pack_offset(rng.integers(-(1 << 24), 1 << 24, size) * OFFSET_UNIT, shift)
        return Requant(kind, 0, zero, low, high, dtype=dtype), [mul, shift]
    if rng.random() < 0.5:  # 32 bits are enough
        reach = max(1, min((1 << 30) // bound, (1 << 31) - 1))
        mul, add = rng.integers(-reach, reach, size, endpoint=True), rng.integers(-(1 << 29), 1 << 29, size)
    else:
        mul, add = rng.integers(-(1 << 31) + 1, 1 << 31, size), rng.integers(-(1 << 31) + 1, 1 << 31, size)
    widest = (bound * int(np.abs(mul).max())).bit_length()
    wide = not narrow_enough(bound, mul, add)
    shift = max(0, min(widest - int(rng.integers(5, 12)), 62 if wide else 31))
    shift = 0 if rng.random() < 0.1 else shift
    rule = Requant("pulp", shift, 0, low, high, wide, dtype)
    return rule, [mul.astype(np.int32), add.astype(np.int32)]
