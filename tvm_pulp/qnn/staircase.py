"""Rules of rounding as staircases: the sums at which the result steps up, and lines that step at the same sums.

A result never falls as its sum grows. So a rule is known by the first sum of every result and the last sum before it,
and so is hardware that computes

    ((sum * multiplier >> dropped) + summand) >> shift

Both give the same results for all sums if they do at these: each of them confines the summand from one side.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tvm_pulp.qnn.fixed_point import unpack_offset
from tvm_pulp.qnn.requant import Requant

# A side on which nothing confines a summand.
FREE = 1 << 62
# Steps are looked for this near to where they should be, then among all sums.
_NEAR = 4


@dataclass(frozen=True)
class Staircase:
    """By channel and result: the first sum that has the result, or a larger one, and the last sum before it.

    `reached`, `passed`: where there are such sums. The least result is not among the `results`.
    """

    results: np.ndarray
    at: np.ndarray
    before: np.ndarray
    reached: np.ndarray
    passed: np.ndarray

    @staticmethod
    def of_steps(results: np.ndarray, steps: np.ndarray, low: np.ndarray, high: np.ndarray) -> "Staircase":
        """All sums from `low` to `high` of each channel; a step is behind all of them where no sum has its result."""
        return Staircase(results, steps, steps - 1, steps <= high[:, None], steps > low[:, None])

    @staticmethod
    def of_values(results: np.ndarray, sums: Sequence[np.ndarray], values: Sequence[np.ndarray]) -> "Staircase | None":
        """Ascending sums of each channel, and what the rule makes of them; None where that falls somewhere."""
        if any((np.diff(v) < 0).any() for v in values):
            return None
        place = np.stack([np.searchsorted(v, results) for v in values])
        count = np.array([[len(s)] for s in sums])
        at, before = (
            np.stack([s[np.clip(p, 0, len(s) - 1)] for s, p in zip(sums, places, strict=True)])
            for places in (place, place - 1)
        )
        return Staircase(results, at, before, place < count, place > 0)

    def of_channels(self, chosen: np.ndarray) -> "Staircase":
        """Those of some channels."""
        parts = (self.at, self.before, self.reached, self.passed)
        return Staircase(self.results, *(part[chosen] for part in parts))

    def moved(self, added: np.ndarray, bits: np.ndarray | int = 0) -> "Staircase":
        """The same results for sums to which a number was added, and that were shifted to the left."""
        added, bits = added[:, None], np.asarray(bits)[..., None]
        return Staircase(self.results, self.at + added << bits, self.before + added << bits, self.reached, self.passed)

    def within(self, low: np.ndarray, high: np.ndarray) -> "Staircase":
        """Sums from one that there is to another one; no sums of a channel whose `low` is above `high`."""
        low, high = low[:, None], high[:, None]
        reached = self.reached & (self.at <= high) & (low <= high)
        passed = self.passed & (self.before >= low) & (low <= high)
        return Staircase(self.results, np.maximum(self.at, low), np.minimum(self.before, high), reached, passed)

    def agrees(self, made: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Tell for each channel if what is `made` of its sums has the same results; it must not fall either."""
        enough, few = made(self.at) >= self.results, made(self.before) < self.results
        return np.asarray(((enough | ~self.reached) & (few | ~self.passed)).all(axis=1))

    def reaching(self, goals: np.ndarray, spare: int = 0) -> "Goals":
        """Goals [channels, results] that are reached at the steps, by so much more than is needed, and not before."""
        least, most = np.where(self.reached, goals + spare, -FREE), np.where(self.passed, goals - 1, FREE)
        return Goals(np.where(self.reached, self.at, 0), least, np.where(self.passed, self.before, 0), most)


@dataclass(frozen=True)
class Goals:
    """Products of the sums `at` and a summand are to be at least `least`, those of `before` at most `most`."""

    at: np.ndarray
    least: np.ndarray
    before: np.ndarray
    most: np.ndarray

    def of_channels(self, chosen: np.ndarray) -> "Goals":
        """Those of some channels."""
        return Goals(*(part[chosen] for part in vars(self).values()))

    def summands(self, multipliers: np.ndarray, dropped: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """The least and the most that may be added to products which have lost so many bits."""
        at, before = (sums * multipliers[:, None] >> dropped for sums in (self.at, self.before))
        return (self.least - at).max(axis=1, initial=-FREE), (self.most - before).min(axis=1, initial=FREE)


def middle(least: np.ndarray, most: np.ndarray) -> np.ndarray:
    """As far from both ends as possible; where one side is free, at the other end or zero."""
    one_sided = np.where(least <= -FREE, np.minimum(most, 0), np.maximum(least, 0))
    return np.where((least <= -FREE) | (most >= FREE), one_sided, (least + most) // 2)


def nearest_zero(least: np.ndarray, most: np.ndarray) -> np.ndarray:
    """The smallest number."""
    return np.clip(0, least, np.maximum(least, most))


@dataclass(frozen=True)
class LineTarget:
    """Hardware that a rule is written for.

    `accepts` tells for channels, their multipliers and summands [parts, channels] which ones it can hold.
    """

    accepts: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
    # How far multipliers may be from the nearest one.
    tried: int
    # Bits that products lose before the summand is added.
    dropped: int = 0
    choose: Callable[[np.ndarray, np.ndarray], np.ndarray] = middle


@dataclass(frozen=True)
class Lines:
    """Multipliers by channel, summands by part and channel, and the channels that have none."""

    multipliers: np.ndarray
    summands: np.ndarray
    missing: np.ndarray


def fit(parts: Sequence[Goals], nearest: np.ndarray, target: LineTarget) -> Lines:
    """The multiplier of every channel, nearest to `nearest`, with which products and a summand come to all goals.

    Parts are sums with a summand of their own.
    """
    multipliers = nearest.copy()
    summands = np.zeros((len(parts), len(nearest)), np.int64)
    left = np.arange(len(nearest))
    for distance in sorted(range(-target.tried, target.tried + 1), key=abs):
        tried = nearest[left] + distance
        least, most = (np.stack(e) for e in zip(*(p.summands(tried, target.dropped) for p in parts), strict=True))
        fits = (least <= most).all(axis=0)
        if not fits.any():
            continue
        chosen = target.choose(least, most)
        fits &= target.accepts(left, tried, chosen)
        multipliers[left[fits]], summands[:, left[fits]] = tried[fits], chosen[:, fits]
        left, parts = left[~fits], [part.of_channels(~fits) for part in parts]
        if not len(left):
            break
    return Lines(multipliers, summands, left)


def find_steps(
    reaches: Callable[[np.ndarray], np.ndarray], guess: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """The first sum [channels, results] from `low` to `high` that reaches its result, or the one behind `high`.

    It is the guess; where that is wrong it is found by halving: near the guess, else anywhere.
    """
    first, end = low[:, None], high[:, None] + 1
    about = np.clip(guess, first, end).astype(np.int64)
    is_later, is_earlier = (about < end) & ~reaches(about), (about > first) & reaches(about - 1)
    if not (is_later | is_earlier).any():
        return about
    begin = np.where(is_later, about + 1, np.where(is_earlier, np.maximum(about - _NEAR, first), about))
    stop = np.where(is_later, np.minimum(about + _NEAR, end), np.where(is_earlier, about - 1, about))
    begin = np.where((begin > first) & reaches(begin - 1), first, begin)
    stop = np.where((stop < end) & ~reaches(stop), end, stop)
    while (begin < stop).any():
        half = (begin + stop) >> 1
        reached = reaches(half)
        stop = np.where(reached, half, stop)
        begin = np.where(reached, begin, np.minimum(half + 1, stop))
    return stop


def factors_of(rule: Requant, operands: Sequence[np.ndarray]) -> np.ndarray:
    """The real number by which a rule multiplies, for each channel."""
    first, second = (np.asarray(o, np.float64).reshape(-1) for o in operands)
    if rule.kind == "offset_half_even":
        second = unpack_offset(second)[1].astype(np.float64)
    exponents = second - 31 if rule.kind == "tflite" else -second
    return np.asarray(first * (2.0**-rule.shift if rule.kind == "pulp" else np.exp2(exponents)))


def staircase_of(
    rule: Requant, operands: Sequence[np.ndarray], bias: np.ndarray, low: np.ndarray, high: np.ndarray
) -> Staircase:
    """Steps of a rule with no negative factor, by sums from `low` to `high` before the bias is added."""
    first, second = (np.broadcast_to(np.asarray(o, np.int64).reshape(-1), bias.shape) for o in operands)
    results, factors = np.arange(rule.low + 1, rule.high + 1), factors_of(rule, (first, second))[:, None]
    if rule.kind == "pulp":
        wanted = results - second[:, None] * 2.0**-rule.shift
    else:
        wanted = (results - rule.zero_point - 0.5)[None]
    if rule.kind == "tflite":
        # The first rounding moves steps by half a unit of its own: to the other side below zero.
        wanted = wanted - np.where(wanted > 0, 0.5, -0.5) * np.where(second < 0, np.exp2(second), 0.0)[:, None]
    elif rule.kind == "offset_half_even":
        offset, shift = unpack_offset(second[:, None])
        wanted = wanted - offset * np.exp2(-shift.astype(np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        guess = np.nan_to_num(np.ceil(wanted / factors - bias[:, None]))

    def reaches(sums: np.ndarray) -> np.ndarray:
        return np.asarray(rule.apply(sums + bias[:, None], (first, second), axis=0) >= results)

    return Staircase.of_steps(results, find_steps(reaches, guess, low, high), low, high)
