"""A factor of single precision as an integer multiplier that rounds every sum alike.

`round(float(sum) * factor)` is a staircase: it is known by the sums at which it steps up. A multiplier of 31 bits,
rounded half to even, is accepted when it steps at exactly these.
"""

from __future__ import annotations

import numpy as np

from tvm_pulp.qnn.fixed_point import scale_half_even, single_rounding_multiplier
from tvm_pulp.qnn.real import round_even

# Sums beyond are no whole numbers in single precision.
_LARGEST_SUM = 1 << 24
# Multipliers are tried this far from the factor's own: single precision rounds a product by less than 2^-24 of it.
_NEAR = 256


def multiplier_like(factor: float, low: int, high: int) -> tuple[int, int] | None:
    """Multiplier and shift for results from `low` to `high`, or None where there are none."""
    results = np.arange(low + 1, high + 1)
    if factor <= 0 or (np.abs(results).max(initial=0) + 1) / factor >= _LARGEST_SUM:
        return None
    try:
        nearest, shift = single_rounding_multiplier(factor)
    except OverflowError:
        return None
    steps = _steps(factor, results)
    for offset in sorted(range(-_NEAR, _NEAR + 1), key=abs):
        multiplier = min(nearest + offset, (1 << 31) - 1)
        at, before = (scale_half_even(s, np.asarray(multiplier), np.asarray(shift)) for s in (steps, steps - 1))
        if (at >= results).all() and (before < results).all():
            return multiplier, shift
    return None


def _steps(factor: float, results: np.ndarray) -> np.ndarray:
    """The least sum that is rounded to each result or more."""
    single = np.float32(factor)
    below = np.floor((results - 1) / factor).astype(np.int64) - 2
    above = np.ceil(results / factor).astype(np.int64) + 2
    while (above - below > 1).any():
        middle = (above + below) // 2
        reached = round_even(middle.astype(np.float32) * single) >= results
        above, below = np.where(reached, middle, above), np.where(reached, below, middle)
    return above
