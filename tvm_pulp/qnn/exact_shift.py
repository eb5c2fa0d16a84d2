"""A rounding of few sums as a product, a sum and a shift that give the same numbers."""

from collections.abc import Sequence

import numpy as np

from tvm_pulp.qnn.requant import SINGLE_ROUNDINGS, Requant
from tvm_pulp.qnn.staircase import LineTarget, Staircase, factors_of, fit, staircase_of

# Products stay inside 32 bits with room for the summand.
_PRODUCT_BITS = 30
_LARGEST_SHIFT = 30

# Multipliers, summands and the shift of all of them.
ShiftedLines = tuple[np.ndarray, np.ndarray, int]


def exact_shift(
    rule: Requant, operands: Sequence[np.ndarray], least: np.ndarray, most: np.ndarray
) -> ShiftedLines | None:
    """Multipliers, summands and a shift by which `(sum * multiplier + summand) >> shift`, clipped, equals a rounding.

    The i-th elements of `operands`, the rule's multipliers and shifts, are for sums from least[i] to most[i]. None
    where there are no such numbers, as with ties that go up and down.
    """
    factors = factors_of(rule, operands)
    if rule.kind not in SINGLE_ROUNDINGS or (factors < 0).any():
        return None
    stairs = staircase_of(rule, operands, np.zeros(len(least), np.int64), least, most)
    return lines_near(stairs, factors, int(_reach(least, most).max()), (rule.low, rule.high, rule.zero_point))


def exact_shift_to_even(
    rule: Requant, operands: Sequence[np.ndarray], least: np.ndarray, most: np.ndarray
) -> ShiftedLines | None:
    """The same for ties that go to the even result: a product and summand lose one before the shift where their result
    is odd beside the zero point, which is 1 in the lowest bit of its difference.

    Of a line that has ties nothing lies behind the shift there; others keep away from such numbers.
    """
    factors = factors_of(rule, operands)
    if rule.kind != "half_even" or (factors < 0).any():
        return None
    reach = _reach(least, most)
    shift = _shift(int(reach.max()), factors, (rule.low, rule.high, rule.zero_point))
    if shift <= 0:
        return None
    stairs = staircase_of(rule, operands, np.zeros(len(least), np.int64), least, most)

    def accepts(channels: np.ndarray, multipliers: np.ndarray, summands: np.ndarray) -> np.ndarray:
        def made(sums: np.ndarray) -> np.ndarray:
            total = sums * multipliers[:, None] + summands[0][:, None]
            return np.asarray(total - (((total >> shift) ^ rule.zero_point) & 1) >> shift)

        return _fits(multipliers, reach[channels], summands[0]) & stairs.of_channels(channels).agrees(made)

    nearest, goals = np.rint(factors * 2.0**shift).astype(np.int64), stairs.results << shift
    lines = fit([stairs.reaching(goals, spare=1)], nearest, LineTarget(accepts, 1))
    multipliers, (summands,), left = lines.multipliers, lines.summands, lines.missing
    summands[left] = (2 * rule.zero_point + 1) << (shift - 1)
    if not accepts(left, multipliers[left], summands[None, left]).all():
        return None
    return multipliers.astype(np.int32), summands.astype(np.int32), shift


def exact_lines(
    sums: Sequence[np.ndarray],
    wanted: Sequence[np.ndarray],
    slopes: Sequence[float],
    limits: tuple[int, int],
    offset: float = 0,
) -> ShiftedLines | None:
    """The same for sums and what is wanted of them, of which each pair lies near a line of the given slope.

    `limits`: the range that results are clipped to. `offset`: the largest number that is added to a product.
    """
    factors = np.array(slopes)
    # A line that falls is one that rises, of negated sums.
    falls = factors < 0
    rising = [(-s[::-1], w[::-1]) if f else (s, w) for s, w, f in zip(sums, wanted, falls, strict=True)]
    results = np.arange(limits[0] + 1, limits[1] + 1)
    stairs = Staircase.of_values(results, *zip(*rising, strict=True))
    reach = max(int(np.abs(s).max(initial=0)) for s in sums)
    found = None if stairs is None else lines_near(stairs, np.abs(factors), reach, (*limits, offset))
    return None if found is None else (np.where(falls, -found[0], found[0]), *found[1:])


def lines_near(stairs: Staircase, factors: np.ndarray, reach: int, added: Sequence[float]) -> ShiftedLines | None:
    """The same for steps of sums up to `reach` either way, with multipliers near the factors.

    `added`: ends of the range that results are clipped to, and the largest number that is added to a product.
    """
    shift = _shift(max(1, reach), factors, added)
    if shift <= 0:
        return None

    def accepts(channels: np.ndarray, multipliers: np.ndarray, summands: np.ndarray) -> np.ndarray:
        return _fits(multipliers, max(1, reach), summands[0])

    nearest, goals = np.rint(factors * 2.0**shift).astype(np.int64), stairs.results << shift
    lines = fit([stairs.reaching(goals)], nearest, LineTarget(accepts, 1))
    if len(lines.missing):
        return None
    return lines.multipliers.astype(np.int32), lines.summands[0].astype(np.int32), shift


def _fits(multipliers: np.ndarray, reach: np.ndarray | int, summands: np.ndarray) -> np.ndarray:
    # A multiplier below zero would make the line fall.
    return np.asarray((multipliers >= 0) & (multipliers * reach + np.abs(summands) < 1 << 31))


def _reach(least: np.ndarray, most: np.ndarray) -> np.ndarray:
    return np.maximum(np.maximum(np.abs(least), np.abs(most)), 1)


def _shift(reach: int, factors: np.ndarray, added: Sequence[float]) -> int:
    """The largest shift for which products of sums up to `reach`, and what is added to them, have room."""
    largest = max(reach * float(np.abs(factors).max()), *(abs(number) + 1 for number in added))
    return min(_LARGEST_SHIFT, int(np.floor(_PRODUCT_BITS - np.log2(largest))) - 1)
