"""A constant row added to bytes, with any rounding, as one product, one summand per channel and one shift.

The result of a channel is known for each of the 256 bytes at compile time, so `(byte * mul + add) >> shift` is checked
against all of them: what is returned here is exact, not close.
"""

from dataclasses import dataclass

import numpy as np

_INT32 = 1 << 31
# Finest first.
_SHIFTS = range(22, 7, -1)
# Multipliers are tried this far from the nearest one.
_NEAR = sorted(range(-4, 5), key=abs)
# Bounds where a result is clipped and asks nothing of one side.
_FREE = 1 << 60
BYTES = np.arange(-128, 128, dtype=np.int64)


@dataclass(frozen=True)
class AddedRow:
    """`clip((byte * mul + add[channel]) >> shift)`: bytes and results as signed ones; nothing leaves 32 bits."""

    mul: int
    add: np.ndarray
    shift: int


def find_added_row(result: np.ndarray, slope: float) -> AddedRow | None:
    """The row that gives `result[channel, byte + 128]`, from -128 to 127, for every signed byte.

    `slope` is roughly what one step of the byte adds to the result.
    """
    result = result.astype(np.int64)
    inside = (result > -128, result < 127)
    for shift in _SHIFTS:
        for mul in (round(slope * 2.0**shift) + step for step in _NEAR):
            total = mul * BYTES[None]
            rest = (result << shift) - total
            first = np.where(inside[0], rest, -_FREE).max(axis=1)
            last = np.where(inside[1], rest + (1 << shift) - 1, _FREE).min(axis=1)
            # A side that asks nothing leaves the other one.
            middle = np.where(first == -_FREE, last, np.where(last == _FREE, first, (first + last) // 2))
            if (first <= last).all() and np.abs(middle).max() + np.abs(total).max() < _INT32:
                return AddedRow(mul, middle, shift)
    return None
