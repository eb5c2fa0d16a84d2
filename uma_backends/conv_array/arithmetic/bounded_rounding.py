"""Rounding rules of frameworks between two results of the array, one that is never above and one never below.

`(acc * scale + low) >> shift` and `(acc * scale + high) >> shift` differ in their summands alone. These are the largest
and the smallest with which no accumulator that the layer can reach lies above, or below, the rule. Where both results
are the same they are the rule's; of a hundred elements about one is left open, and the cores compute that one.
"""

from dataclasses import dataclass

import numpy as np

from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.staircase import FREE, Staircase, factors_of, staircase_of
from uma_backends.conv_array.arithmetic.folded_rounding import Reach

_LARGEST_SHIFT = 31
# A shift for every channel takes the array some cycles: it has to spare the cores so many of all elements.
_WORTH = 0.002


@dataclass(frozen=True)
class Bounds:
    """Scale, both summands and shift of every channel; of elements inside the range, how many are open."""

    scale: np.ndarray
    low: np.ndarray
    high: np.ndarray
    shift: np.ndarray

    @property
    def open_share(self) -> float:
        return float(((self.high - self.low) / np.exp2(self.shift)).mean())

    @property
    def has_one_shift(self) -> bool:
        return bool((self.shift == self.shift[0]).all())


def bound_rounding(
    rule: Requant, first: np.ndarray, second: np.ndarray, reach: Reach, bias: np.ndarray
) -> Bounds | None:
    """The finest bounds whose products stay inside 32 bits; None where a channel has none."""
    factors = factors_of(rule, (first, second))
    if (factors <= 0).any():
        return None
    stairs = staircase_of(rule, (first, second), bias, reach.low, reach.high)
    each: Bounds | None = None
    found = np.zeros(len(bias), bool)
    # Above this products leave 32 bits in every channel.
    finest = int(np.floor(32 - np.log2(np.maximum(reach.magnitudes * factors, 1e-9))).max(initial=0))
    for shift in range(min(_LARGEST_SHIFT, finest), 0, -1):
        bounds, fits = _with_shift(stairs, factors, reach, shift)
        if each is None:
            each = bounds
        else:
            columns = zip(vars(each).values(), vars(bounds).values(), strict=True)
            each = Bounds(*(np.where(found, old, new) for old, new in columns))
        found |= fits
        if fits.all():
            return each if bounds.open_share - each.open_share > _WORTH else bounds
    return each if found.all() else None


def _with_shift(stairs: Staircase, factors: np.ndarray, reach: Reach, shift: int) -> tuple[Bounds, np.ndarray]:
    """Bounds of all channels, and in which of them nothing leaves 32 bits."""
    scale = np.round(factors * 2.0**shift).astype(np.int64)
    # From above: a step's first accumulator has its result. From below: the accumulator before it has not.
    least, most = stairs.reaching(stairs.results << shift).summands(scale)
    below = np.where(most >= FREE, np.maximum(least, 0), most)
    # Where one summand is both, the two results never differ.
    above = np.maximum(least, below)
    fits = reach.fits(scale, below) & reach.fits(scale, above) & (scale > 0) & (scale < 1 << 32)
    return Bounds(scale, below, above, np.full(len(scale), shift)), fits
