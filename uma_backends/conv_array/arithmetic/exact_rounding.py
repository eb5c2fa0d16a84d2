"""Rounding rules of frameworks, exactly, as a 48-bit product on the array and an addition and a shift on the cores.

Without a bias the array keeps 48 bits of the product. It delivers `p = acc * scale >> 16` as 32 bits, and the cores
finish with `(p + add) >> shift`. A scale and a summand are accepted when they step at the rule's accumulators.
"""

from dataclasses import dataclass, replace

import numpy as np

from tvm_pulp.qnn.real_rounding import RealRounding
from tvm_pulp.qnn.requant import TO_EVEN, Requant
from tvm_pulp.qnn.staircase import LineTarget, Staircase, factors_of, fit, staircase_of
from uma_backends.conv_array.arithmetic.folded_rounding import Reach

# What the array shifts out: with 31 bits of result the product stays inside 48.
ARRAY_SHIFT = 16
# Bits of |p|, so that p plus the summand stays inside 32.
_REACH_BITS = 30
_LARGEST_SCALE = 1 << 32
# The zero point and the range above it need room beside the fraction.
_LARGEST_SHIFT = 21
# Scales are tried this far from the nearest one.
_TRIED = 24


@dataclass(frozen=True)
class ExactFold:
    """Per channel: what the array multiplies by, what the cores add, and their shift."""

    scale: np.ndarray
    add: np.ndarray
    shift: np.ndarray
    # What sums below zero lose before they are rounded, where halves go away from zero.
    away: int = 0
    # Bits of |p| by channel, where they are not as many as usual.
    bits: np.ndarray | None = None

    @property
    def share_of_halves(self) -> float:
        """Part of the channels, in fours as the cores round them, of which one has halves."""
        has_halves = self.shift >= TO_EVEN
        fours = np.pad(has_halves, (0, -len(has_halves) % 4)).reshape(-1, 4)
        return float(fours.any(axis=1).mean())

    def from_least(self, low: int, least: int) -> np.ndarray:
        """Summands with which the least result is `least` instead of `low`."""
        return np.asarray(self.add + ((least - low) << self.shift))

    def exceeds(self, reach: int, add: np.ndarray) -> bool:
        """Tell if accumulators up to `reach`, with these summands, may need more than 32 bits in a channel."""
        return bool((self.largest(reach) + np.abs(add) >= 1 << 31).any())

    def largest(self, reach: int) -> np.ndarray:
        """No |p| is above these, for accumulators of any channel up to `reach`.

        Where there is a fraction it was chosen to leave p so many bits, by the channel's own accumulators.
        """
        bounds = reach * self.scale.astype(np.int64) >> ARRAY_SHIFT
        # Scales are a little beside the nearest ones.
        most = np.int64(1) << (np.full(len(self.scale), _REACH_BITS) if self.bits is None else self.bits)
        return np.where(self.shift > 0, np.minimum(bounds, most + (1 << 16)), bounds)


def fold_exactly(
    rule: Requant, first: np.ndarray, second: np.ndarray, reach: Reach, bias: np.ndarray
) -> ExactFold | None:
    """Constants for every channel, or None where one has none: TFLite rounds halves away from zero on both sides."""
    known = _factors(rule, first, second)
    if known is None:
        return None
    stairs = staircase_of(rule, (first, second), bias, reach.low, reach.high)
    fold, left = _fit(stairs, known, reach, _shifts(known, reach))
    if len(left) and rule.kind == "offset_half_even":
        return _with_more_bits(fold, left, stairs, known, reach)
    return None if len(left) else fold


def _with_more_bits(
    fold: ExactFold, left: np.ndarray, stairs: Staircase, real: np.ndarray, reach: Reach
) -> ExactFold | None:
    """Constants of the channels that are left with one more bit of |p|, which p and the summand then both need."""
    shift, own = fold.shift[left] + 1, Reach(reach.low[left], reach.high[left])
    found, missing = _fit(stairs.of_channels(left), real[left], own, shift, to_the_end=True)
    if len(missing):
        return None
    bits = np.full(len(fold.scale), _REACH_BITS)
    for values, new in ((fold.scale, found.scale), (fold.add, found.add), (fold.shift, shift), (bits, bits[left] + 1)):
        values[left] = new
    return replace(fold, bits=bits)


def fold_to_even(
    rule: Requant, first: np.ndarray, second: np.ndarray, reach: Reach, bias: np.ndarray
) -> ExactFold | None:
    """As `fold_exactly`, for channels by the rule `shift_even` where a line cannot step over halves: scales are short.

    The product of such a channel is exact and the summand half a unit; `TO_EVEN` is part of its shift.
    """
    known = _factors(rule, first, second) if rule.kind == "half_even" else None
    if known is None:
        return None
    stairs = staircase_of(rule, (first, second), bias, reach.low, reach.high)
    fold, left = _fit(stairs, known, reach, _shifts(known, reach))
    shift = fold.shift[left]
    factor = known[left] * np.exp2(shift)
    add = bias[left] * factor + (2 * rule.zero_point + 1) * np.exp2(shift - 1)
    is_short = (factor == np.rint(factor)) & (factor < _LARGEST_SCALE >> ARRAY_SHIFT) & (shift > 0)
    if not (is_short & (reach.magnitudes[left] * factor + np.abs(add) < 1 << 31)).all():
        return None
    fold.scale[left] = factor.astype(np.int64) << ARRAY_SHIFT
    fold.add[left] = add.astype(np.int64)
    fold.shift[left] += TO_EVEN
    return fold


def fold_away(rule: Requant, first: np.ndarray, second: np.ndarray, reach: Reach, bias: np.ndarray) -> ExactFold | None:
    """As `fold_exactly`, by the rule `shift_away`: TFLite's results below zero, where a line steps later.

    Its first rounding leaves a number whose unit, `away`, is the same in all channels here, and both sides of zero
    begin half of one nearer to it than a single rounding would.
    """
    known = _factors(rule, first, second) if rule.kind == "tflite" and (second < 0).all() else None
    if known is None or (rule.low, rule.high) not in ((-128, 127), (0, 255)):
        return None
    bits = int((_shifts(known, reach) + second).min())
    if bits < 1:
        return None
    shift, away = bits - second.astype(np.int64), 1 << bits
    stairs = staircase_of(rule, (first, second), bias, reach.low, reach.high)
    from_zero, half = (stairs.results - rule.zero_point)[None], np.int64(1) << (shift[:, None] - 1)
    goals = (from_zero << shift[:, None]) - half + np.where(from_zero > 0, 0, away)
    fold, left = _fit(stairs, known, reach, shift, goals)
    products = fold.largest(int(reach.magnitudes.max()))
    largest = products + np.abs(fold.add) + away + (2 * abs(rule.zero_point) + 1) * half[:, 0]
    return None if len(left) or (largest >= 1 << 31).any() else replace(fold, away=away)


def fold_real(rounding: RealRounding, reach: Reach) -> ExactFold | None:
    """Constants for a factor of single precision, or None where there are none: ties that go down and up."""
    if not 0 < rounding.factor < 1:
        return None
    real = np.array([rounding.factor])
    fold, left = _fit(rounding.staircase(reach.low, reach.high), real, reach, _shifts(real, reach))
    return None if len(left) or not fold.shift[0] else fold


def _factors(rule: Requant, first: np.ndarray, second: np.ndarray) -> np.ndarray | None:
    """Real factors of all channels, where none is zero or negative."""
    factors = factors_of(rule, (first, second))
    return factors if (factors > 0).all() else None


def _shifts(real: np.ndarray, reach: Reach) -> np.ndarray:
    """As many fraction bits as the result and the scale have room for."""
    room = _REACH_BITS - np.ceil(np.log2(np.maximum(reach.magnitudes * real, 1.0)))
    narrow = np.floor(np.log2((_LARGEST_SCALE - 64) / real)) - ARRAY_SHIFT
    return np.asarray(np.clip(np.minimum(room, narrow), 0, _LARGEST_SHIFT), np.int64)


def _fit(
    stairs: Staircase,
    real: np.ndarray,
    reach: Reach,
    shift: np.ndarray,
    goals: np.ndarray | None = None,
    *,
    to_the_end: bool = False,
) -> tuple[ExactFold, np.ndarray]:
    """Scale and summand of all channels, and those that have none; goals are shifted results where none are given.

    `to_the_end`: p and the sum of both may need all of 32 bits, but for the 128 that a type's zero may lie elsewhere.
    """

    def accepts(channels: np.ndarray, scale: np.ndarray, summands: np.ndarray) -> np.ndarray:
        product, add = reach.magnitudes[channels] * scale, summands[0]
        largest = (product >> ARRAY_SHIFT) + np.abs(add)
        if to_the_end:
            sums = [(end[channels] * scale >> ARRAY_SHIFT) + add for end in (reach.low, reach.high)]
            largest = np.maximum(*map(np.abs, sums)) + (128 << shift[channels])
        return np.asarray((largest < 1 << 31) & (product < 1 << 47) & (scale > 0) & (scale < _LARGEST_SCALE))

    goals = stairs.results << shift[:, None] if goals is None else goals
    nearest = np.round(real * np.exp2(shift + ARRAY_SHIFT)).astype(np.int64)
    lines = fit([stairs.reaching(goals)], nearest, LineTarget(accepts, _TRIED, dropped=ARRAY_SHIFT))
    return ExactFold(lines.multipliers, lines.summands[0], shift), lines.missing
