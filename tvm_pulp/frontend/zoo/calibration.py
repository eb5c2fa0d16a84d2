"""Chooses requantization constants so that a layer's output fills its eight bits.

All results have one power-of-two divisor, multipliers >= 0, and stay inside 32 bits for every possible input: the form
that accelerators can run natively.
"""

import math
from dataclasses import dataclass

import numpy as np

# Part of the values that the output range covers; the rest saturates, as in a calibrated network.
COVERED = 0.999
# The exporters of this dialect use divisors up to 2^18; two more bits keep small multipliers accurate.
LARGEST_SHIFT = 20


@dataclass(frozen=True)
class RequantShift:
    """Constants of one RequantShift; vectors of one element or one per channel."""

    mul: np.ndarray
    add: np.ndarray
    shift: int
    signed: bool


def order_statistic(values: np.ndarray, part: float = COVERED) -> float:
    """The value that the given part of all values does not exceed; a member of the array, never interpolated."""
    flat = values.reshape(-1)
    index = min(flat.size - 1, math.ceil(part * flat.size) - 1)
    return float(np.partition(flat, index)[index])


def reach(values: np.ndarray, signed: bool) -> float:
    """Magnitude that should map to the end of the output range; 1 where there is nothing to measure."""
    found = order_statistic(np.abs(values) if signed else np.maximum(values, 0))
    return found if found > 0 else max(float(np.abs(values).max(initial=0)), 1.0)


def representable(values: np.ndarray) -> np.ndarray:
    """Round to integers that float32, the dialect's storage, holds exactly."""
    return np.rint(values).astype(np.float32).astype(np.int64)


def fixed_point(scale: np.ndarray, offset: np.ndarray, bound: int, signed: bool) -> RequantShift:
    """Output = scale * accumulator + offset, as precise as 32 bits allow when |accumulator| <= bound."""
    for shift in range(LARGEST_SHIFT, -1, -1):
        mul, add = representable(scale * 2.0**shift), representable(offset * 2.0**shift)
        largest = bound * int(mul.max()) + int(np.abs(add).max()) + (1 << shift)
        if largest < 1 << 31:
            return RequantShift(np.maximum(mul, 1), add, shift, signed)
    raise ValueError(f"an accumulator of {bound} leaves no room for a multiplier in 32 bits")


def scale_to_range(acc: np.ndarray, bound: int, signed: bool, headroom: float) -> RequantShift:
    """One multiplier for the whole tensor, no offset; calibration data uses 1/headroom of the range."""
    high = (127 if signed else 255) / headroom
    return fixed_point(np.full(1, high / reach(acc, signed)), np.zeros(1), bound, signed)


def mean_and_deviation(acc: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Per channel (axis 1) over all other axes; computed from exact integer sums."""
    axes = tuple(a for a in range(acc.ndim) if a != 1)
    count = acc.size // acc.shape[1]
    sums, squares = acc.sum(axis=axes).tolist(), (acc * acc).sum(axis=axes).tolist()
    means = [s / count for s in sums]
    deviations = [math.sqrt((count * q - s * s) / (count * count)) for s, q in zip(sums, squares, strict=True)]
    return np.array(means), np.maximum(np.array(deviations), 1.0)


def normalize_channels(
    acc: np.ndarray, gain: np.ndarray, offset: np.ndarray, bound: int, signed: bool
) -> tuple[RequantShift, float]:
    """Batch normalization folded into requantization.

    Each channel gets zero mean and unit deviation over the calibration data, times `gain`, plus `offset`. Returns the
    constants and the real value of one output step.
    """
    mean, deviation = mean_and_deviation(acc)
    slope = gain / deviation
    intercept = offset - mean * slope
    along = (1, -1, *[1] * (acc.ndim - 2))
    limit = reach(acc * slope.reshape(along) + intercept.reshape(along), signed)
    high = 127 if signed else 255
    return fixed_point(slope * high / limit, intercept * high / limit, bound, signed), limit / high
