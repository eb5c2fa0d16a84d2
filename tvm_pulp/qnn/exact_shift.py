"""A rounding of few sums as a product, a sum and a shift that give the same numbers."""

from collections.abc import Sequence

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
    slopes = [float(m) * 2.0 ** -float(s) for m, s in zip(*operands, strict=True)]
    sums = [np.arange(first, last + 1, dtype=np.int64) for first, last in zip(least, most, strict=True)]
    wanted = [
        rule.apply(s, [np.full(s.shape, o[i], np.int64) for o in operands]).astype(np.int64) for i, s in enumerate(sums)
    ]
    return exact_lines(sums, wanted, slopes, (rule.low, rule.high), rule.zero_point)


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
    largest = max(reach * max(map(abs, slopes)), *(abs(end) + 1 for end in limits), abs(offset) + 1)
    shift = min(30, int(np.floor(_PRODUCT_BITS - np.log2(largest))) - 1)
    if shift <= 0:
        return None
    multipliers, summands = [], []
    for own, results, slope in zip(sums, wanted, slopes, strict=True):
        middle = round(slope * 2.0**shift)
        for multiplier in (middle, middle - 1, middle + 1):
            summand = _summand(own, results, multiplier, shift, limits)
            if summand is not None and abs(multiplier) * reach + abs(summand) < 1 << 31:
                break
        else:
            return None
        multipliers.append(multiplier)
        summands.append(summand)
    return np.array(multipliers, np.int32), np.array(summands, np.int32), shift


def _summand(sums: np.ndarray, wanted: np.ndarray, multiplier: int, shift: int, limits: tuple[int, int]) -> int | None:
    """A summand by which all sums shift to what is wanted, or beyond the range where that is its end."""
    products, one = sums * multiplier, 1 << shift
    lowest = (wanted * one - products)[wanted > limits[0]]
    highest = ((wanted + 1) * one - 1 - products)[wanted < limits[1]]
    least = int(lowest.max()) if lowest.size else None
    most = int(highest.min()) if highest.size else None
    if least is None or most is None:
        # All results are at one end of the range.
        return most if least is None else least
    return (least + most) // 2 if least <= most else None
