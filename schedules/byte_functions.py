"""Sums and functions of bytes in the arithmetic of the kernels.

Results for all values are known at compile time, so every form is checked against all of them: what is returned here is
exact, not close.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from schedules.byte_tables import byte_values

_INT32 = 1 << 31
# Finest first; this many that fit are tried.
_SHIFTS, _TRIES = range(24, 0, -1), 4
# Multipliers are tried this far from the nearest one; ties of the rounding often need one step.
_NEAR = sorted(range(-3, 4), key=abs)
# Bounds where a pair's result is clipped and asks nothing of one side.
_FREE = 1 << 62


@dataclass(frozen=True)
class LinearSum:
    """`clip((a * mul_a + b * mul_b + add) >> shift)`; nothing leaves 32 bits."""

    mul_a: int
    mul_b: int
    add: int
    shift: int


def find_linear_sum(
    result: np.ndarray, a: np.ndarray, b: np.ndarray, slopes: tuple[float, float], low: int, high: int
) -> LinearSum | None:
    """The linear sum that gives `result[i, j]`, clipped to `low`..`high`, for every pair of `a[i]` and `b[j]`.

    TFLite's sum rounds three times and ONNX's once, half to even. `slopes` is roughly what one step of each operand
    adds to the result.
    """
    result = result.astype(np.int64)
    inside = (result > low, result < high)
    columns, rows = a.astype(np.int64)[:, None], b.astype(np.int64)[None, :]
    largest = slopes[0] * np.abs(columns).max(), slopes[1] * np.abs(rows).max()
    fitting = [shift for shift in _SHIFTS if (abs(largest[0]) + abs(largest[1]) + 256) * 2.0**shift < _INT32]
    for shift in fitting[:_TRIES]:
        nearest = [round(slope * 2.0**shift) for slope in slopes]
        for mul_a in (nearest[0] + step for step in _NEAR):
            for mul_b in (nearest[1] + step for step in _NEAR):
                total = mul_a * columns + mul_b * rows
                if np.abs(total).max() >= _INT32:
                    continue
                rest = (result << shift) - total
                # Every pair confines the summand: from here ...
                first = int(np.where(inside[0], rest, -_FREE).max())
                # ... to here.
                last = int(np.where(inside[1], rest + (1 << shift) - 1, _FREE).min())
                add = (max(first, -_INT32) + min(last, _INT32)) // 2
                if first <= last and np.abs(total).max() + abs(add) < _INT32:
                    return LinearSum(mul_a, mul_b, add, shift)
    return None


@dataclass(frozen=True)
class SumTable:
    """`results[f(a) + g(b) - low]`; f and g are int8 tables over the 256 bytes, or None for the byte's own value."""

    operands: tuple[np.ndarray | None, np.ndarray | None]
    results: np.ndarray
    low: int


def find_sum_table(
    tables: Sequence[np.ndarray | None], types: Sequence[str], result: Callable[[np.ndarray], np.ndarray]
) -> SumTable | None:
    """Tables of `result(f(a) + g(b))`, or None where what an operand becomes does not fit a byte.

    An operand that differs from its byte by a constant needs no table, and values up to 255 are stored 128 lower: both
    are put right in the results.
    """
    operands: list[np.ndarray | None] = []
    low, high, offset = 0, 0, 0
    for table, dtype in zip(tables, types, strict=True):
        own = byte_values(dtype).astype(np.int64)
        values = own if table is None else table.astype(np.int64)
        moved = int((values - own)[0])
        stored = values - moved
        if (stored == own).all():
            operands.append(None)
        else:
            moved = 128 if values.max() > 127 else 0
            stored = values - moved
            if stored.min() < -128 or stored.max() > 127:
                return None
            operands.append(stored.astype(np.int8))
        low, high, offset = low + int(stored.min()), high + int(stored.max()), offset + moved
    return SumTable((operands[0], operands[1]), result(np.arange(low + offset, high + offset + 1)).view(np.uint8), low)


_HALF = (1 << 16) - 1
_BYTE = 255
# A finer multiplier has more bits than the product of a byte leaves room for.
_LARGEST_SHIFT = 15


@dataclass(frozen=True)
class PairScale:
    """`(u * mul + add) >> shift` for u from 0 to 255; no sum is above 65535, no result above 255."""

    mul: int = 1
    add: int = 0
    shift: int = 0

    @property
    def keeps(self) -> bool:
        return self == PairScale()


def find_pair_scale(results: np.ndarray) -> PairScale | None:
    """The scale that gives `results[u]`, numbers from 0 to 255, for every u from 0 to 255; None where there is none."""
    wanted, u = results.astype(np.int64), np.arange(_BYTE + 1)
    if wanted.min() < 0 or wanted.max() > _BYTE:
        return None
    if (wanted == u).all():
        return PairScale()
    slope = float(wanted[-1] - wanted[0]) / _BYTE
    for shift in range(_LARGEST_SHIFT, -1, -1):
        # The ends tell the slope to one in 255.
        near = sorted(range(-(2**shift // _BYTE) - 1, 2**shift // _BYTE + 2), key=abs)
        for mul in (round(slope * 2**shift) + step for step in near):
            # Every byte confines the summand.
            rest = (wanted << shift) - u * mul
            first, last = max(0, int(rest.max())), int(rest.min()) + (1 << shift) - 1
            if mul >= 0 and first <= last and _BYTE * mul + first <= _HALF:
                return PairScale(mul, first, shift)
    return None
