"""Rounding rules of frameworks as the array's multiply, add and shift, with the proven deviation.

TFLite and ONNX scale by a real factor and round to nearest; the array multiplies by an integer and floors. With half a
unit in the bias flooring rounds half up, and the integer scale is the real factor to as many bits as 32-bit products
leave. What remains is bounded here, in units of the output.
"""

from dataclasses import dataclass

import numpy as np

from tvm_pulp.qnn.requant import Requant

_INT32 = 1 << 31
# Rules with a real factor that the array can only approximate.
ROUNDING_RULES = ("tflite", "half_up", "half_even")


@dataclass(frozen=True)
class Reach:
    """Least and largest value of every channel's accumulator; zero, a window of padding, lies between."""

    low: np.ndarray
    high: np.ndarray

    @property
    def magnitudes(self) -> np.ndarray:
        return np.maximum(np.abs(self.low), np.abs(self.high))

    def plus(self, values: np.ndarray) -> "Reach":
        return Reach(self.low + values, self.high + values)

    def fits(self, factors: np.ndarray, summands: np.ndarray) -> np.ndarray:
        """For each channel, whether product, summand and their sum stay inside 32 bits: nothing ever wraps around."""
        product = Reach(self.low * factors, self.high * factors)
        largest = np.maximum(product.magnitudes, product.plus(summands).magnitudes)
        return np.asarray(np.maximum(largest, np.abs(summands)) < _INT32)


@dataclass(frozen=True)
class Folded:
    """`(acc * scale + add) >> shift` for every channel, and how far it may lie from the rule."""

    scale: np.ndarray
    add: np.ndarray
    shift: np.ndarray
    deviation: int

    @property
    def has_one_shift(self) -> bool:
        return bool((self.shift == self.shift[0]).all())


def fold_rounding(
    rule: Requant, first: np.ndarray, second: np.ndarray, reach: Reach, bias: np.ndarray
) -> Folded | None:
    """The finest scales that fit: with one shift, or with a shift per channel where that proves less deviation."""
    if rule.kind == "tflite":
        real = first * np.exp2(second.astype(np.float64) - 31)
        # The rule rounds to 32 bits before it shifts right: half a unit of what is shifted out.
        inexact = np.where(second < 0, 0.5 * np.exp2(second.astype(np.float64)), 0.0)
    else:
        real = first * np.exp2(-second.astype(np.float64))
        inexact = np.zeros(len(first))
    relevant = _relevant(rule, real, reach.plus(bias))
    single: Folded | None = None
    finest = np.zeros((3, len(first)), np.int64)  # scale, summand, shift of every channel; shift 0: none yet
    for shift in range(31, 0, -1):
        scale = np.round(real * 2.0**shift).astype(np.int64)
        # The array floors: half a unit makes it round half up.
        add = (rule.zero_point << shift) + (1 << (shift - 1)) + bias * scale
        fits = reach.fits(scale, add) & (scale < 1 << 32)
        finest = np.where(fits & (finest[2] == 0), np.stack([scale, add, np.full(len(first), shift)]), finest)
        if fits.all():
            drift = relevant * np.abs(scale / 2.0**shift - real)
            single = Folded(scale, add, np.full(len(first), shift), _deviation(rule.kind, drift, inexact))
            break
    if single is not None and single.deviation <= 1:
        return single
    if (finest[2] == 0).any():
        return single
    drift = relevant * np.abs(finest[0] / np.exp2(finest[2]) - real)
    each = Folded(finest[0], finest[1], finest[2], _deviation(rule.kind, drift, inexact))
    return each if single is None or each.deviation < single.deviation else single


def _relevant(rule: Requant, real: np.ndarray, total: Reach) -> np.ndarray:
    """Largest |accumulator| that decides about the deviation.

    Both roundings never fall as the accumulator grows. Two units and one accumulator behind the point where the exact
    one has reached the end of its range it stays there, and the other one cannot come to lie further away.
    """
    with np.errstate(divide="ignore"):
        above = max(0, rule.high - rule.zero_point + 2) / real + 1
        below = max(0, rule.zero_point - rule.low + 2) / real + 1
    return np.maximum(np.minimum(np.abs(total.high), above), np.minimum(np.abs(total.low), below))


def _deviation(kind: str, drift: np.ndarray, inexact: np.ndarray) -> int:
    """Most units by which rounding a value and rounding half up a value `drift` away can differ.

    Two integers that are each within half a unit of values `drift` apart differ by at most 1 + drift. Where both round
    half up, rounding is one monotone function and they differ by at most the next integer above the drift.
    """
    if kind == "half_up":
        return int(np.ceil(drift - 1e-9).max(initial=0))
    return int(np.floor(1 + drift + inexact + 1e-9).max(initial=0))
