"""A rounding of few sums as a product, a sum and a shift that give the same numbers."""

from collections.abc import Callable, Sequence

import numpy as np

from tvm_pulp.qnn.requant import SINGLE_ROUNDINGS, Requant

# Products stay inside 32 bits with room for the summand.
_PRODUCT_BITS = 30


def exact_shift(
    rule: Requant, operands: Sequence[np.ndarray], least: np.ndarray, most: np.ndarray
) -> tuple[np.ndarray, np.ndarray, int] | None:
    """Multipliers, summands and a shift by which `(sum * multiplier + summand) >> shift`, clipped, equals a rounding.

    The i-th elements of `operands`, the rule's multipliers and shifts, are for sums from least[i] to most[i]. None
    where there are no such numbers, as with ties that go up and down.
    """
    if rule.kind not in SINGLE_ROUNDINGS:
        return None
    return exact_lines(*_stairs(rule, operands, least, most), (rule.low, rule.high), rule.zero_point)


def exact_shift_to_even(
    rule: Requant, operands: Sequence[np.ndarray], least: np.ndarray, most: np.ndarray
) -> tuple[np.ndarray, np.ndarray, int] | None:
    """The same for ties that go to the even result: a product and summand lose one before the shift where their result
    is odd beside the zero point, which is 1 in the lowest bit of its difference.

    Of a line that has ties nothing lies behind the shift there; others keep away from such numbers.
    """
    if rule.kind != "half_even":
        return None
    sums, wanted, slopes = _stairs(rule, operands, least, most)
    limits = (rule.low, rule.high)
    shift = _shift_of(sums, slopes, limits, rule.zero_point)
    if shift <= 0:
        return None

    def line(own: np.ndarray, results: np.ndarray, middle: int) -> tuple[int, int] | None:
        lines = [(m, _summand(own, results, m, shift, limits, spare=1)) for m in (middle, middle - 1, middle + 1)]
        reach = int(np.abs(own).max(initial=0))
        for multiplier, summand in (*lines, (middle, (2 * rule.zero_point + 1) << (shift - 1))):
            if summand is not None and _fits(multiplier, reach, summand):
                total = own * multiplier + summand
                total -= ((total >> shift) ^ rule.zero_point) & 1
                if np.array_equal(np.clip(total >> shift, *limits), results):
                    return multiplier, summand
        return None

    return _every_line(line, sums, wanted, slopes, shift)


def _stairs(
    rule: Requant, operands: Sequence[np.ndarray], least: np.ndarray, most: np.ndarray
) -> tuple[list[np.ndarray], list[np.ndarray], list[float]]:
    """All sums for every pair of operands, what the rule makes of them, and the slope of that."""
    slopes = [float(m) * 2.0 ** -float(s) for m, s in zip(*operands, strict=True)]
    sums = [np.arange(first, last + 1, dtype=np.int64) for first, last in zip(least, most, strict=True)]
    wanted = [
        rule.apply(s, [np.full(s.shape, o[i], np.int64) for o in operands]).astype(np.int64) for i, s in enumerate(sums)
    ]
    return sums, wanted, slopes


def exact_lines(
    sums: Sequence[np.ndarray],
    wanted: Sequence[np.ndarray],
    slopes: Sequence[float],
    limits: tuple[int, int],
    offset: float = 0,
) -> tuple[np.ndarray, np.ndarray, int] | None:
    """The same for sums and what is wanted of them, of which each pair lies near a line of the given slope.

    `limits`: the range that results are clipped to. `offset`: the largest number that is added to a product.
    """
    reach = max(1, max(int(np.abs(s).max(initial=0)) for s in sums))
    shift = _shift_of(sums, slopes, limits, offset)
    if shift <= 0:
        return None

    def line(own: np.ndarray, results: np.ndarray, middle: int) -> tuple[int, int] | None:
        for multiplier in (middle, middle - 1, middle + 1):
            summand = _summand(own, results, multiplier, shift, limits)
            if summand is not None and _fits(multiplier, reach, summand):
                return multiplier, summand
        return None

    return _every_line(line, sums, wanted, slopes, shift)


def _every_line(
    line: Callable[[np.ndarray, np.ndarray, int], tuple[int, int] | None],
    sums: Sequence[np.ndarray],
    wanted: Sequence[np.ndarray],
    slopes: Sequence[float],
    shift: int,
) -> tuple[np.ndarray, np.ndarray, int] | None:
    """Multipliers and summands of all lines, each near its slope; None where one of them is missing."""
    found = []
    for own, results, slope in zip(sums, wanted, slopes, strict=True):
        numbers = line(own, results, round(slope * 2.0**shift))
        if numbers is None:
            return None
        found.append(numbers)
    multipliers, summands = (np.array(column, np.int32) for column in zip(*found, strict=True))
    return multipliers, summands, shift


def _fits(multiplier: int, reach: int, summand: int) -> bool:
    return abs(multiplier) * reach + abs(summand) < 1 << 31


def _shift_of(sums: Sequence[np.ndarray], slopes: Sequence[float], limits: tuple[int, int], offset: float = 0) -> int:
    """The largest shift for which products and summands have room."""
    reach = max(1, max(int(np.abs(s).max(initial=0)) for s in sums))
    largest = max(reach * max(map(abs, slopes)), *(abs(end) + 1 for end in limits), abs(offset) + 1)
    return min(30, int(np.floor(_PRODUCT_BITS - np.log2(largest))) - 1)


def _summand(
    sums: np.ndarray, wanted: np.ndarray, multiplier: int, shift: int, limits: tuple[int, int], spare: int = 0
) -> int | None:
    """A summand by which all sums shift to what is wanted, or beyond the range where that is its end.

    `spare`: less by so much they still do.
    """
    products, one = sums * multiplier, 1 << shift
    lowest = (wanted * one - products + spare)[wanted > limits[0]]
    highest = ((wanted + 1) * one - 1 - products)[wanted < limits[1]]
    least = int(lowest.max()) if lowest.size else None
    most = int(highest.min()) if highest.size else None
    if least is None or most is None:
        # All results are at one end of the range.
        return most if least is None else least
    return (least + most) // 2 if least <= most else None
