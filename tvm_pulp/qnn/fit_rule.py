"""A requantization as one multiplication, one addition and one shift that give the same results.

A result is `saturate((add + (sum * 2^shift * multiply >> 32)) >> 16)`, where a sum begins with `start`. Constants are
searched for that step where the network's rule does; where none exist, the rule stays as it is.

TFLite rounds half away from zero: its steps below zero lie elsewhere. A constant is added to sums below zero then.
"""

from dataclasses import dataclass, replace

import numpy as np

from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.staircase import LineTarget, Staircase, factors_of, fit, nearest_zero, staircase_of

# Bits of a result's fraction, and multipliers beside the nearest one that are tried.
FRACTION = 16
_TRIED = 48
# The upper half of a product is kept.
_HIGH = 32
_LARGEST = 1 << 31
_KINDS = ("pulp", "tflite", "half_up", "half_even", "offset_half_even")


@dataclass(frozen=True)
class FittedRule:
    """Constants by channel. `start`: what sums begin with. `less`: added to `add` below zero; None: nothing is."""

    start: np.ndarray
    shift: np.ndarray
    multiply: np.ndarray
    add: np.ndarray
    less: np.ndarray | None = None


@dataclass(frozen=True)
class Sums:
    """The rule of a layer, and the sums that its channels can have before the bias.

    `reachable`: all sums that there are, ascending, where a layer of one channel has few; None: any in between.
    `known`: their results, where the sums are rounded themselves.
    """

    requant: Requant
    operands: tuple[np.ndarray, np.ndarray]
    bias: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray
    reachable: np.ndarray | None = None
    known: np.ndarray | None = None

    def results(self, sums: np.ndarray) -> np.ndarray:
        """Results of sums [channels, any]."""
        return self.requant.apply(sums + self.bias[:, None], self.operands, axis=0).astype(np.int64)

    def staircase(self, limits: tuple[int, int]) -> Staircase | None:
        """The sums that decide about results inside the limits."""
        if self.reachable is None:
            rule = replace(self.requant, low=limits[0], high=limits[1])
            return staircase_of(rule, self.operands, self.bias, self.lowest, self.highest)
        values = self.results(self.reachable[None])[0] if self.known is None else self.known
        return Staircase.of_values(np.arange(limits[0] + 1, limits[1] + 1), [self.reachable], [values])

    def sides(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """The least and largest sum, with what sums begin with, of those from zero on and of those below."""
        start = self.starts()
        if self.reachable is None:
            lowest, highest = self.lowest + start, self.highest + start
            return [(np.maximum(lowest, 0), highest), (lowest, np.minimum(highest, -1))]
        sums = self.reachable + start
        parts = (sums[sums >= 0], sums[sums < 0])
        return [(part[:1], part[-1:]) if len(part) else (np.ones(1, int), np.zeros(1, int)) for part in parts]

    def starts(self) -> np.ndarray:
        """Numbers that sums begin with: the bias, and what the rule adds in units of sums."""
        if self.requant.kind != "pulp":
            return self.bias
        every = zip(*(np.broadcast_to(o.reshape(-1), self.bias.shape) for o in self.operands), strict=True)
        return self.bias + np.array([_summand(int(m), int(a), self.requant.shift) for m, a in every], np.int64)

    def scales(self) -> np.ndarray:
        """The real factor of each channel."""
        return np.broadcast_to(factors_of(self.requant, self.operands), self.bias.shape)


def _summand(mul: int, add: int, shift: int) -> int:
    """A number e near add / mul with `add - e * mul` a multiple of a fraction's last bit: nothing is lost below it."""
    zeros = (mul & -mul).bit_length() - 1
    mul, add, unit = mul >> zeros, add >> zeros, 1 << max(0, shift - zeros - FRACTION)
    rest = add * pow(mul, -1, unit) % unit if unit > 1 else 0
    return rest + unit * round((add / mul - rest) / unit)


def fit_rule(sums: Sums, limits: tuple[int, int], *, doubled: bool = False) -> FittedRule | None:
    """Constants for a result that is clipped to the limits only; None where there are none.

    `doubled`: the core doubles the product, so that shifts are one less than in the formula, or factors halved.
    """
    fitted = _fitted(sums, limits, doubled)
    if fitted is None or not doubled:
        return fitted
    kept = fitted.shift == 0
    multiply = np.where(kept, fitted.multiply >> 1, fitted.multiply)
    return replace(fitted, shift=np.where(kept, 0, fitted.shift - 1), multiply=multiply)


def _fitted(sums: Sums, limits: tuple[int, int], doubled: bool) -> FittedRule | None:
    if sums.requant.kind not in _KINDS or (sums.operands[0] <= 0).any():
        return None
    stairs = sums.staircase(limits)
    plain = None if stairs is None else _fit(sums, stairs, even=doubled)
    if plain is None and stairs is not None and sums.requant.kind == "tflite" and limits[0] < 0:
        return _fit(sums, stairs, even=doubled, away=True)
    return plain


def _fit(sums: Sums, stairs: Staircase, *, even: bool, away: bool = False) -> FittedRule | None:
    """Search constants, `away` with one for sums below zero; factors without a shift are even where they must be."""
    start, scales = sums.starts(), sums.scales()
    ends = np.stack([sums.lowest + start, sums.highest + start])
    shift = np.maximum(0, np.ceil(np.log2(scales)).astype(np.int64) + FRACTION + 1)
    if (shift > 31).any() or ((np.abs(ends).max(axis=0) << shift) >= _LARGEST).any():
        return None
    moved = stairs.moved(start)
    # Both sides of zero are fitted by themselves where a constant of their own is added.
    sides = [moved.within(*side) for side in sums.sides()] if away else [moved]
    goals = stairs.results << FRACTION

    def accepts(channels: np.ndarray, multiply: np.ndarray, added: np.ndarray) -> np.ndarray:
        products = ends[:, channels] << shift[channels]
        fits = (multiply >= 0) & (multiply < _LARGEST) & ((shift[channels] > 0) | (multiply % 2 == 0) | (not even))
        fits &= (np.abs(added) < _LARGEST).all(axis=0)
        totals = added[:, None] + (products * multiply >> _HIGH)
        return np.asarray(fits & (np.abs(totals) < _LARGEST).all(axis=(0, 1)))

    target = LineTarget(accepts, _TRIED, dropped=_HIGH, choose=nearest_zero)
    nearest = np.rint(scales * 2.0 ** (_HIGH + FRACTION - shift)).astype(np.int64)
    none = np.zeros_like(start)
    lines = fit([side.moved(none, shift).reaching(goals) for side in sides], nearest, target)
    if len(lines.missing):
        return None
    less = lines.summands[-1] - lines.summands[0] if away else None
    return FittedRule(start, shift, lines.multipliers, lines.summands[0], less)
