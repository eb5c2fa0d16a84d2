"""Rounding rules of frameworks, exactly, as a 48-bit product on the array and an addition and a shift on the cores.

Without a bias the array keeps 48 bits of the product. It delivers `p = acc * scale >> 16` as 32 bits, and the cores
finish with `(p + add) >> shift`. A rule is a staircase: it is known by the at most 255 accumulators at which the
result steps up. A scale and a summand are accepted when they step at exactly these, so the result is the framework's.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tvm_pulp.qnn import fixed_point
from tvm_pulp.qnn.requant import SINGLE_ROUNDINGS, TO_EVEN, Requant
from uma_backends.conv_array.arithmetic.folded_rounding import Reach

# What the array shifts out: with 31 bits of result the product stays inside 48.
ARRAY_SHIFT = 16
# Bits of |p|, so that p plus the summand stays inside 32.
_REACH_BITS = 30
_LARGEST_SCALE = 1 << 32
# The zero point and the range above it need room beside the fraction.
_LARGEST_SHIFT = 21
# Scales are tried this far from the nearest one.
_NEAR = sorted(range(-24, 25), key=abs)
# How far from its estimate a step is looked for.
_STEPS = range(-6, 9)
_HALVES = (8, 4, 2, 1)
_FREE = 1 << 60
# Totals that are looked for.
_FURTHEST = 1 << 40
# Bytes before such a shift have 64 bits.
_LONGEST_SHIFT = 52


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
    known = staircase_of(rule, first, second, bias)
    if known is None:
        return None
    shift = _shifts(known.real, reach)
    fold, left = _fit(known.results[None] << shift[:, None], known.steps, known.real, reach, shift)
    if len(left) and rule.kind == "offset_half_even":
        return _with_more_bits(fold, left, known, reach)
    return None if len(left) else fold


def _with_more_bits(fold: ExactFold, left: np.ndarray, known: "Staircase", reach: Reach) -> ExactFold | None:
    """Constants of the channels that are left with one more bit of |p|, which p and the summand then both need."""
    shift, own = fold.shift[left] + 1, Reach(reach.low[left], reach.high[left])
    targets = known.results[None] << shift[:, None]
    found, missing = _fit(targets, known.steps[left], known.real[left], own, shift, to_the_end=True)
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
    known = staircase_of(rule, first, second, bias) if rule.kind == "half_even" else None
    if known is None:
        return None
    shift = _shifts(known.real, reach)
    fold, left = _fit(known.results[None] << shift[:, None], known.steps, known.real, reach, shift)
    factor = known.real[left] * np.exp2(shift[left])
    add = bias[left] * factor + (2 * rule.zero_point + 1) * np.exp2(shift[left] - 1)
    is_short = (factor == np.rint(factor)) & (factor < _LARGEST_SCALE >> ARRAY_SHIFT) & (shift[left] > 0)
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
    known = staircase_of(rule, first, second, bias) if rule.kind == "tflite" and (second < 0).all() else None
    if known is None or (rule.low, rule.high) not in ((-128, 127), (0, 255)):
        return None
    bits = int((_shifts(known.real, reach) + second).min())
    if bits < 1:
        return None
    shift, away = bits - second.astype(np.int64), 1 << bits
    from_zero, half = (known.results - rule.zero_point)[None], np.int64(1) << (shift[:, None] - 1)
    targets = (from_zero << shift[:, None]) - half + np.where(from_zero > 0, 0, away)
    fold, left = _fit(targets, known.steps, known.real, reach, shift)
    products = fold.largest(int(reach.magnitudes.max()))
    largest = products + np.abs(fold.add) + away + (2 * abs(rule.zero_point) + 1) * half[:, 0]
    return None if len(left) or (largest >= 1 << 31).any() else replace(fold, away=away)


@dataclass(frozen=True)
class Staircase:
    """A rule by channel: `steps[channel, i]` is the least accumulator with `results[i]`, `real` what one adds."""

    results: np.ndarray
    steps: np.ndarray
    real: np.ndarray


def staircase_of(rule: Requant, first: np.ndarray, second: np.ndarray, bias: np.ndarray) -> Staircase | None:
    """All results of a rule but its least, or None where a factor is not positive or a step cannot be found."""
    first, second = first.astype(np.int64), second.astype(np.int64)
    exponent = second - 31 if rule.kind == "tflite" else -second
    if rule.kind == "offset_half_even":
        exponent = -fixed_point.unpack_offset(second)[1]
    if rule.kind == "pulp":
        exponent = np.full(first.shape, -rule.shift)
    real = first * np.exp2(exponent.astype(np.float64))
    if (real <= 0).any():
        return None
    results = np.arange(rule.low + 1, rule.high + 1)
    if rule.kind == "pulp":
        steps = _steps_of_lines(rule.shift, first[:, None], second[:, None], results[None])
    else:
        wanted = (results - rule.zero_point)[None]
        # No accumulator of 32 bits reaches what is further away, nor does a product there fit into 64.
        beyond = 1 << 31 if rule.kind == "offset_half_even" else _FURTHEST
        steps = _find_steps(_rounding(rule, first, second), wanted, real[:, None], beyond)
    return None if steps is None else Staircase(results, steps - bias[:, None], real)


@dataclass(frozen=True)
class RealRounding:
    """A product in single precision, rounded half to even, plus a zero point; `results`: all but the least."""

    scale: float
    results: np.ndarray
    zero_point: int = 0

    def steps(self) -> np.ndarray | None:
        """The least total of each result, or None where one cannot be found."""
        return self._steps(self._rounded)

    def fold(self, reach: Reach) -> ExactFold | None:
        """Constants for one channel, or None where there are none: ties that go down and up."""
        real, steps = np.array([np.float32(self.scale)], np.float64), self.steps()
        if steps is None or not 0 < real[0] < 1:
            return None
        shift = _shifts(real, reach)
        found, left = _fit(self.results[None] << shift[:, None], steps, real, reach, shift)
        return None if len(left) or not found.shift[0] else found

    def as_half_even(self) -> tuple[int, int] | None:
        """Factor and shift of the rule `half_even`, where rounding the product itself first changes no result."""
        mantissa, exponent = np.frexp(np.float64(np.float32(self.scale)))
        mul, shift = int(mantissa * (1 << 24)), 24 - int(exponent)
        if mul <= 0 or not 0 < shift < 63:
            return None
        steps = self.steps()
        exact = self._steps(lambda total: fixed_point.scale_half_even(total, np.array(mul), np.array(shift)))
        return (mul, shift) if steps is not None and exact is not None and (steps == exact).all() else None

    def _rounded(self, total: np.ndarray) -> np.ndarray:
        return np.rint(total.astype(np.float32) * np.float32(self.scale)).astype(np.int64)

    def _steps(self, rounded: Callable[[np.ndarray], np.ndarray]) -> np.ndarray | None:
        real = np.array([[np.float32(self.scale)]], np.float64)
        return _find_steps(rounded, (self.results - self.zero_point)[None], real)


def _rounding(rule: Requant, first: np.ndarray, second: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    if rule.kind == "tflite":
        return lambda total: fixed_point.multiply(total, first[:, None], second[:, None])
    return lambda total: SINGLE_ROUNDINGS[rule.kind](total, first[:, None], second[:, None])


def _steps_of_lines(shift: int, factor: np.ndarray, summand: np.ndarray, wanted: np.ndarray) -> np.ndarray | None:
    """The least total that is shifted to each wanted result: a quotient rounded up."""
    return None if shift > _LONGEST_SHIFT else np.asarray(-((summand - (wanted << shift)) // factor))


def _find_steps(
    rounded: Callable[[np.ndarray], np.ndarray], wanted: np.ndarray, real: np.ndarray, beyond: int = _FURTHEST
) -> np.ndarray | None:
    """The least total, of accumulator and bias, whose rounded value reaches each wanted one: found by halving.

    Totals `beyond` which none comes are not looked for.
    """
    about = np.floor((wanted - 0.5) / real)
    if beyond == _FURTHEST and np.abs(about).max(initial=0) >= beyond:
        return None
    guess, is_far = np.clip(about, -beyond, beyond).astype(np.int64), np.abs(about) >= beyond
    least = guess + _STEPS[0]
    steps = least.copy()
    for half in _HALVES:
        steps += np.where(rounded(steps + (half - 1)) >= wanted, 0, half)
    # A step at the first offset may lie lower still, one behind the last higher.
    is_lost = ((steps == least) | (steps == least + len(_STEPS))) & ~is_far
    return None if is_lost.any() else np.where(is_far, guess, steps)


def _shifts(real: np.ndarray, reach: Reach) -> np.ndarray:
    """As many fraction bits as the result and the scale have room for."""
    room = _REACH_BITS - np.ceil(np.log2(np.maximum(reach.magnitudes * real, 1.0)))
    narrow = np.floor(np.log2((_LARGEST_SCALE - 64) / real)) - ARRAY_SHIFT
    return np.asarray(np.clip(np.minimum(room, narrow), 0, _LARGEST_SHIFT), np.int64)


def _fit(
    targets: np.ndarray,
    steps: np.ndarray,
    real: np.ndarray,
    reach: Reach,
    shift: np.ndarray,
    *,
    to_the_end: bool = False,
) -> tuple[ExactFold, np.ndarray]:
    """Search the scale of all channels at once, every step confines the summand from both sides; which have none.

    `to_the_end`: p and the sum of both may need all of 32 bits, but for the 128 that a type's zero may lie elsewhere.
    """
    low, high = reach.low[:, None], reach.high[:, None]
    nearest = np.round(real * np.exp2(shift + ARRAY_SHIFT)).astype(np.int64)
    scales, summands = nearest.copy(), np.zeros_like(nearest)
    # Steps that no accumulator reaches ask only for one side.
    reached, passed = steps <= high, steps > low
    at, before = np.clip(steps, low, high), np.clip(steps - 1, low, high)
    left = np.arange(len(real))  # channels without a scale
    for offset in _NEAR:
        scale, goal = nearest[left] + offset, targets[left]
        least = np.where(reached[left], goal - (at[left] * scale[:, None] >> ARRAY_SHIFT), -_FREE).max(axis=1)
        most = np.where(passed[left], goal - 1 - (before[left] * scale[:, None] >> ARRAY_SHIFT), _FREE).min(axis=1)
        # A side that asks nothing, because no accumulator comes near, leaves the other one: its end is the smallest.
        middle = np.where(
            least <= -_FREE, np.minimum(most, 0), np.where(most >= _FREE, np.maximum(least, 0), (least + most) // 2)
        )
        fits = (least <= most) & (scale > 0) & (scale < _LARGEST_SCALE)
        product = reach.magnitudes[left] * scale
        largest = (product >> ARRAY_SHIFT) + np.abs(middle)
        if to_the_end:
            sums = [(end[left] * scale >> ARRAY_SHIFT) + middle for end in (reach.low, reach.high)]
            largest = np.maximum(*map(np.abs, sums)) + (128 << shift[left])
        fits &= (largest < 1 << 31) & (product < 1 << 47)
        scales[left[fits]], summands[left[fits]] = scale[fits], middle[fits]
        left = left[~fits]
        if not len(left):
            break
    return ExactFold(scales, summands, shift), left
