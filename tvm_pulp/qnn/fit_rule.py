"""A requantization as one multiplication, one addition and one shift that give the same results.

A result is `saturate((add + (sum * 2^shift * multiply >> 32)) >> 16)`, where a sum begins with `start`. Both this and
the network's rule are steps that go up with the sum, so they agree on every sum that can occur if they agree at each
step: at the first sum of a result, and at the sum before it. Constants are searched for that do; where none exist, the
rule stays as it is.

TFLite rounds half away from zero: its steps below zero lie elsewhere. A constant is added to sums below zero then.
"""

from dataclasses import dataclass, replace

import numpy as np

from tvm_pulp.qnn.fixed_point import unpack_offset
from tvm_pulp.qnn.requant import Requant

# Bits of a result's fraction, and multipliers beside the nearest one that are tried.
FRACTION = 16
_TRIED = 48
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
        if self.known is not None and self.reachable is not None:
            return self.known[np.maximum(np.searchsorted(self.reachable, sums, "right") - 1, 0)]
        return self.requant.apply(sums + self.bias[:, None], self.operands, axis=0).astype(np.int64)

    def starts(self) -> np.ndarray:
        """Numbers that sums begin with: the bias, and what the rule adds in units of sums."""
        if self.requant.kind != "pulp":
            return self.bias
        every = zip(*(np.broadcast_to(o.reshape(-1), self.bias.shape) for o in self.operands), strict=True)
        return self.bias + np.array([_summand(int(m), int(a), self.requant.shift) for m, a in every], np.int64)

    def scales(self) -> np.ndarray:
        """The real factor of each channel."""
        first, second = (np.asarray(o, np.float64).reshape(-1) for o in self.operands)
        if self.requant.kind == "pulp":
            factors = first / 2.0**self.requant.shift
        elif self.requant.kind == "tflite":
            factors = first * 2.0 ** (second - 31)
        elif self.requant.kind == "offset_half_even":
            factors = first / 2.0 ** unpack_offset(self.operands[1].reshape(-1))[1]
        else:
            factors = first / 2.0**second
        return np.broadcast_to(factors, self.bias.shape)


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
    scales = sums.scales()
    levels = np.arange(limits[0] + 1, limits[1] + 1, dtype=np.int64)[None, :]
    steps = _steps(sums, levels)
    plain = _fit(sums, scales, levels, steps, even=doubled)
    if plain is None and sums.requant.kind == "tflite" and limits[0] < 0:
        return _fit(sums, scales, levels, steps, even=doubled, away=True)
    return plain


def _steps(sums: Sums, levels: np.ndarray) -> np.ndarray:
    """The first sum [channels, levels] whose result is at least a level; one behind all where none is."""
    low = np.repeat(sums.lowest[:, None], levels.size, axis=1)
    high = np.repeat(sums.highest[:, None] + 1, levels.size, axis=1)
    while (low < high).any():
        middle = (low + high) >> 1
        reached = sums.results(middle) >= levels
        high = np.where(reached, middle, high)
        low = np.where(reached, low, np.minimum(middle + 1, high))
    return high


@dataclass(frozen=True)
class _Points:
    """Sums that decide: the first of each level and the last before it, and whether there are such."""

    at: np.ndarray
    before: np.ndarray
    has_at: np.ndarray
    has_before: np.ndarray


def _points(steps: np.ndarray, low: np.ndarray, high: np.ndarray, reachable: np.ndarray | None) -> _Points:
    """Those of a range of sums."""
    if reachable is None:
        at = np.clip(steps, low[:, None], np.maximum(low, high + 1)[:, None])
        return _Points(at, at - 1, at <= high[:, None], at > low[:, None])
    known = reachable[(reachable >= low[0]) & (reachable <= high[0])]
    place = np.searchsorted(known, steps)
    padded = np.concatenate([known, [0]])
    return _Points(padded[np.minimum(place, len(known))], padded[place - 1], place < len(known), place > 0)


def _fit(
    sums: Sums, scales: np.ndarray, levels: np.ndarray, steps: np.ndarray, *, even: bool, away: bool = False
) -> FittedRule | None:
    """Search constants, `away` with one for sums below zero; factors without a shift are even where they must be."""
    start = sums.starts()
    lowest, highest, steps = sums.lowest + start, sums.highest + start, steps + start[:, None]
    reachable = None if sums.reachable is None else sums.reachable + start[0]
    shift = np.maximum(0, np.ceil(np.log2(scales)).astype(np.int64) + FRACTION + 1)
    reach = np.maximum(np.abs(lowest), np.abs(highest))
    if (shift > 31).any() or ((reach << shift) >= _LARGEST).any():
        return None
    nearest = np.rint(scales * 2.0 ** (32 + FRACTION - shift)).astype(np.int64)
    # Both sides of zero are fitted by themselves where a constant of their own is added.
    ranges = [(np.maximum(lowest, 0), highest), (lowest, np.minimum(highest, -1))] if away else [(lowest, highest)]
    parts = [_points(steps, *ends, reachable) for ends in ranges]
    found = np.zeros((3, len(nearest)), np.int64)
    missing = np.ones(len(nearest), bool)
    for distance in sorted(range(-_TRIED, _TRIED + 1), key=abs):
        multiply = nearest + distance
        bounds = [_bounds(multiply[:, None], shift[:, None], levels, part) for part in parts]
        added = np.stack([np.clip(0, low, np.maximum(low, high)) for low, high in bounds])
        fits = missing & ((shift > 0) | (multiply % 2 == 0) | (not even))
        fits &= (multiply >= 0) & (multiply < _LARGEST) & np.logical_and.reduce([a <= b for a, b in bounds])
        for ends in (lowest, highest):
            fits &= (np.abs(added) < _LARGEST).all(0) & (np.abs(added + _high(ends, multiply, shift)) < _LARGEST).all(0)
        found[:, fits] = np.stack([multiply, added[0], added[-1] - added[0]])[:, fits]
        missing &= ~fits
        if not missing.any():
            return FittedRule(start, shift, found[0], found[1], found[2] if away else None)
    return None


def _high(points: np.ndarray, multiply: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """The upper half of the product with shifted sums."""
    return (points << shift) * multiply >> 32


def _bounds(
    multiply: np.ndarray, shift: np.ndarray, levels: np.ndarray, points: _Points
) -> tuple[np.ndarray, np.ndarray]:
    """The least and the most that can be added: the first sum of a level must reach it, the one before must not."""
    wanted = levels << FRACTION
    least = np.where(points.has_at, wanted - _high(points.at, multiply, shift), -_LARGEST)
    most = np.where(points.has_before, wanted - 1 - _high(points.before, multiply, shift), _LARGEST - 1)
    return least.max(1), most.min(1)
