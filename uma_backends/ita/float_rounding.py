"""A factor of single precision as integer multipliers that round every sum alike.

A multiplier of 31 bits, rounded half to even, is accepted when it steps at the sums where `round(float(sum) * factor)`
does. Single precision rounds the product first, so what is nearly a tie becomes one, and is then rounded up or down, to
even. Where that happens two roundings are needed here too: to a fraction of so many bits, then to integers.
"""

from dataclasses import dataclass

import numpy as np

from tvm_pulp.qnn.fixed_point import scale_half_even, shift_half_even, single_rounding_multiplier
from tvm_pulp.qnn.real_rounding import RealRounding

# Sums beyond are no whole numbers in single precision.
_LARGEST_SUM = 1 << 24
# Fractions of the first rounding that are tried, 0 for a single one, and how far from the factor's own multiplier.
_TRIED = {0: 256, **dict.fromkeys(range(15, 23), 2)}


@dataclass(frozen=True)
class FloatRounding:
    """Multiply, shift and round half to even; with a `fraction` that many bits stay for a second rounding."""

    multiplier: int
    shift: int
    fraction: int = 0

    def apply(self, sums: np.ndarray) -> np.ndarray:
        first = scale_half_even(sums, np.asarray(self.multiplier), np.asarray(self.shift))
        return shift_half_even(first, self.fraction) if self.fraction else first


def rounding_like(factor: float, low: int, high: int) -> FloatRounding | None:
    """The rounding for results from `low` to `high`, or None where there is none."""
    results = np.arange(low + 1, high + 1)
    if factor <= 0 or (np.abs(results).max(initial=0) + 1) / factor >= _LARGEST_SUM:
        return None
    stairs = RealRounding(factor, results).staircase(*(np.array([end]) for end in (-_LARGEST_SUM, _LARGEST_SUM)))
    for fraction, distance in _TRIED.items():
        try:
            nearest, shift = single_rounding_multiplier(factor * 2.0**fraction)
        except OverflowError:
            continue
        for offset in sorted(range(-distance, distance + 1), key=abs):
            found = FloatRounding(min(nearest + offset, (1 << 31) - 1), shift, fraction)
            if stairs.agrees(found.apply).all():
                return found
    return None
