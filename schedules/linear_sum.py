"""Sums of two bytes with any rounding, as one multiply-accumulate, one shift and one clip.

TFLite's sum rounds three times and ONNX's once, half to even. Their results for the 65,536 pairs of bytes are known at
compile time, so `(a * mul_a + b * mul_b + add) >> shift` can be checked against all of them: what is returned here is
exact, not close.
"""

from dataclasses import dataclass

import numpy as np

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

    `slopes` is roughly what one step of each operand adds to the result.
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
