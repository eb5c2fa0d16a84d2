"""Biases of floats that are no multiples of an accumulator's unit.

A unit of the accumulator may be a large part of a step of the result: the bias must not be rounded to it. What its
nearest integers leave is a summand behind the product, as are the half that rounds and the zero point:

    floor(sum * ratio + bias / scale + zero point + 1/2)   becomes   (sum + integers) * multiplier + summand >> shift
"""

import math

import numpy as np

from tvm_pulp.canonicalize.qdq_operands import IntegerTarget
from tvm_pulp.qnn.exact_shift import exact_lines
from tvm_pulp.qnn.requant import Requant

# Integers are as good where they move no result by more of a step: so rarely is another one the nearest.
_MOST_MISSED = 2.0**-8
# Sums of all channels that are tried for numbers that stay inside 32 bits.
_MOST_SUMS = 1 << 22
# A rule, its constants, and integers that are added to the sums.
FinerBias = tuple[Requant, list[np.ndarray], list[np.ndarray]]


def finer_bias(ratio: np.ndarray, offset: np.ndarray, target: IntegerTarget, reach: int) -> FinerBias | None:
    """For sums up to `reach`: `ratio` and `offset` are a unit and the bias of every channel, in steps of the result."""
    if not np.isfinite(offset).all():
        return None
    missed = np.abs(offset - np.rint(offset / ratio) * ratio)
    if missed.max(initial=0) <= _MOST_MISSED:
        return None
    behind = offset + target.zero_point + 0.5
    whole = np.rint(behind / ratio)
    if np.abs(whole).max() + reach >= 1 << 31:
        return None
    rest, integers = behind - whole * ratio, [whole.astype(np.int32)]
    short = _short(ratio, rest, whole, target, reach)
    if short is not None:
        multipliers, summands, shift = short
        return _rule(target, shift, wide=False), [multipliers, summands], integers
    shift = min(31 - math.frexp(float(ratio.max()))[1], 62)
    made = [np.rint(np.ldexp(v, shift)) for v in (ratio, rest)]
    if shift < 1 or max(np.abs(m).max() for m in made) >= 1 << 31:
        return None
    return _rule(target, shift, wide=True), [m.astype(np.int32) for m in made], integers


def _rule(target: IntegerTarget, shift: int, *, wide: bool) -> Requant:
    return Requant("pulp", shift, 0, target.low, target.high, wide, target.dtype)


def _short(
    ratio: np.ndarray, rest: np.ndarray, whole: np.ndarray, target: IntegerTarget, reach: int
) -> tuple[np.ndarray, np.ndarray, int] | None:
    """Numbers whose products stay inside 32 bits, for every sum there can be."""
    if ratio.size * 2 * reach > _MOST_SUMS:
        return None
    sums = [np.arange(-reach, reach + 1) + int(n) for n in whole]
    exact = [np.floor(s * r + left) for s, r, left in zip(sums, ratio, rest, strict=True)]
    wanted = [np.clip(e, target.low, target.high).astype(np.int64) for e in exact]
    return exact_lines(sums, wanted, [float(r) for r in ratio], (target.low, target.high))
