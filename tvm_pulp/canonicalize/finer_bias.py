"""Biases of floats that are no multiples of an accumulator's unit.

A result is a real number rounded once: the bias must not be rounded to the unit of the sums before it is added. Its
nearest integers are as good where every sum that can occur gives the same result with them. Elsewhere what they leave
is an offset of the product, as fine as that:

    round(sum * ratio + bias / scale)   becomes   round(((sum + integers) * multiplier + offset) / 2^shift)
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tvm_pulp.canonicalize.qdq_operands import IntegerTarget
from tvm_pulp.qnn.exact_shift import lines_near
from tvm_pulp.qnn.fixed_point import OFFSET_UNIT, pack_offset, single_rounding_multipliers, tie_free_multipliers
from tvm_pulp.qnn.real_steps import real_steps
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.staircase import FREE, Staircase

# Numbers that stay inside 32 bits are looked for up to so many sums of all channels.
_MOST_SUMS = 1 << 22
# Multipliers beside the nearest one that are tried.
_TRIED = sorted(range(-24, 25), key=abs)
# Steps of channels that are looked at at once.
_AT_ONCE = 1 << 22
_LARGEST = 1 << 31
# A rule, its constants, and integers that are added to the sums.
FinerBias = tuple[Requant, list[np.ndarray], list[np.ndarray]]


@dataclass(frozen=True)
class RealSums:
    """Sums of every channel from `least` to `most`, what their units and the bias are in steps of the result."""

    units: list[Fraction]
    biases: list[Fraction]
    least: np.ndarray
    most: np.ndarray

    def part(self, begin: int, end: int) -> "RealSums":
        """Neighbouring channels."""
        return RealSums(self.units[begin:end], self.biases[begin:end], self.least[begin:end], self.most[begin:end])

    @property
    def ratio(self) -> np.ndarray:
        return np.array([float(u) for u in self.units])

    @property
    def offset(self) -> np.ndarray:
        return np.array([float(b) for b in self.biases])


@dataclass(frozen=True)
class _Lines:
    """Constants of channels; `found`: where they give the result of every sum."""

    first: np.ndarray
    second: np.ndarray
    added: np.ndarray
    found: np.ndarray

    @staticmethod
    def joined(parts: list["_Lines"]) -> "_Lines":
        return _Lines(*(np.concatenate([getattr(p, name) for p in parts]) for name in vars(parts[0])))

    @property
    def constants(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        rows = np.stack([self.first, self.second]).astype(np.int32)
        rows = rows[:, :1] if (rows == rows[:, :1]).all() else rows
        return list(rows), [self.added.astype(np.int32)]


def finer_bias(sums: RealSums, target: IntegerTarget) -> FinerBias | None:
    """A rule for all channels; None where there is none: a unit of zero, or a bias beyond 32 bits."""
    if not all(u > 0 for u in sums.units):
        return None
    nearest = np.rint(sums.offset / sums.ratio)
    if (np.maximum(np.abs(nearest + sums.least), np.abs(nearest + sums.most)) + 1 >= 1 << 31).any():
        return None
    channels = max(1, _AT_ONCE // (target.high - target.low + 1))
    parts = [sums.part(i, i + channels) for i in range(0, len(sums.units), channels)]
    rule = target.requant("half_even")
    whole = _Lines.joined([_with_integers(p, _steps(p, target), rule) for p in parts])
    if whole.found.all():
        return rule, *whole.constants
    short = _short(sums, target)
    if short is not None:
        return short
    lines = _Lines.joined([_with_offset(p, _steps(p, target), target) for p in parts])
    return target.requant("offset_half_even"), *lines.constants


def _steps(sums: RealSums, target: IntegerTarget) -> Staircase:
    ends = np.array([sums.least, sums.most])
    return real_steps(sums.units, sums.biases, target.zero_point, (target.low, target.high), ends)


def _agrees(steps: Staircase, rule: Requant, constants: list[np.ndarray]) -> np.ndarray:
    """Tell by channel if a rule gives the results."""
    return steps.agrees(lambda sums: rule.apply(sums, constants, axis=0))


def _with_integers(sums: RealSums, steps: Staircase, rule: Requant) -> _Lines:
    """The nearest integers or their neighbours, with which every channel is rounded as without a bias."""
    multipliers, shifts = (v.astype(np.int64) for v in tie_free_multipliers(sums.ratio))
    nearest = np.rint(sums.offset / sums.ratio).astype(np.int64)
    added, found = nearest.copy(), np.zeros(len(nearest), bool)
    for beside in (0, -1, 1):
        fits = ~found & _agrees(steps.moved(nearest + beside), rule, [multipliers, shifts])
        added[fits] += beside
        found |= fits
    return _Lines(multipliers, shifts, added, found)


def _with_offset(sums: RealSums, steps: Staircase, target: IntegerTarget) -> _Lines:
    """Offsets of the products. Where none fits, which takes units below 2^-16 of a step, the one that misses least."""
    rule = target.requant("offset_half_even")
    near, shift = (v.astype(np.int64) for v in single_rounding_multipliers(sums.ratio))
    added, half = np.rint(sums.offset / sums.ratio).astype(np.int64), np.int64(1) << (shift - 1)
    lines = _Lines(near.copy(), np.zeros_like(near), added, np.zeros(len(near), bool))
    room, left = np.full(len(near), -FREE), np.arange(len(near))
    for beside in _TRIED:
        factor, some = near[left] + beside, steps.of_channels(left).moved(added[left])
        ends = some.reaching((steps.results - target.zero_point) << shift[left][:, None]).summands(factor)
        least, most = (np.clip(end - half[left], -_LARGEST, _LARGEST - OFFSET_UNIT) for end in ends)
        offset = ((least + most + 1) // 2 + OFFSET_UNIT // 2) // OFFSET_UNIT * OFFSET_UNIT
        second = pack_offset(offset, shift[left])
        possible = (factor > 0) & (factor < _LARGEST)
        found = possible & _agrees(some, rule, [factor, second])
        better = found | (possible & (most - least > room[left]))
        chosen = left[better]
        lines.first[chosen], lines.second[chosen] = factor[better], second[better]
        lines.found[chosen], room[chosen] = found[better], (most - least)[better]
        left = left[~found]
        if not len(left):
            break
    return lines


def _short(sums: RealSums, target: IntegerTarget) -> FinerBias | None:
    """Numbers whose products stay inside 32 bits, for every sum there can be."""
    if int((sums.most - sums.least + 1).sum()) > _MOST_SUMS:
        return None
    steps, ratio = _steps(sums, target), sums.ratio
    # The zero point and the half that rounds are part of the summand.
    added = np.rint((sums.offset + target.zero_point + 0.5) / ratio).astype(np.int64)
    if np.abs(added).max() + max(int(np.abs(e).max()) for e in (sums.least, sums.most)) >= 1 << 31:
        return None
    reach = max(int(np.abs(end + added).max()) for end in (sums.least, sums.most))
    found = lines_near(steps.moved(added), ratio, reach, (target.low, target.high))
    if found is None:
        return None
    multipliers, summands, shift = found
    rule = Requant("pulp", shift, 0, target.low, target.high, wide=False, dtype=target.dtype)
    return rule, [multipliers, summands], [added.astype(np.int32)]
