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
    reach = max(1, int(np.abs(np.concatenate([least, most])).max()))
    largest = max(reach * max(map(abs, slopes)), abs(rule.low) + 1, abs(rule.high) + 1, abs(rule.zero_point) + 1, 1e-9)
    shift = min(30, int(np.floor(_PRODUCT_BITS - np.log2(largest))) - 1)
    if shift <= 0:
        return None
    multipliers, summands = [], []
    for i, slope in enumerate(slopes):
        sums = np.arange(least[i], most[i] + 1, dtype=np.int64)
        wanted = rule.apply(sums, [np.full(sums.shape, o[i], np.int64) for o in operands]).astype(np.int64)
        middle = round(slope * 2.0**shift)
        for multiplier in (middle, middle - 1, middle + 1):
            summand = _summand(sums, wanted, multiplier, shift, rule)
            if summand is not None and abs(multiplier) * reach + abs(summand) < 1 << 31:
                break
        else:
            return None
        multipliers.append(multiplier)
        summands.append(summand)
    return np.array(multipliers, np.int32), np.array(summands, np.int32), shift


def _summand(sums: np.ndarray, wanted: np.ndarray, multiplier: int, shift: int, rule: Requant) -> int | None:
    """A summand by which all sums shift to what is wanted, or beyond the range where that is its end."""
    products, one = sums * multiplier, 1 << shift
    lowest = (wanted * one - products)[wanted > rule.low]
    highest = ((wanted + 1) * one - 1 - products)[wanted < rule.high]
    least = int(lowest.max()) if lowest.size else -one
    most = int(highest.min()) if highest.size else max(least, one)
    return (least + most) // 2 if least <= most else None
