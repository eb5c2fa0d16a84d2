"""Functions of a byte as one product of eight bits by eight and a shift: two of them fit the halves of a word."""

from dataclasses import dataclass

import numpy as np

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

    def apply(self, u: np.ndarray) -> np.ndarray:
        return (u.astype(np.int64) * self.mul + self.add) >> self.shift


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
