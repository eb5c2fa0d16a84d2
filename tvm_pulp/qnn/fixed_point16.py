"""Sigmoid and hyperbolic tangent of TFLite's integer LSTM: fixed point in 16 bits throughout, bit for bit.

Numbers of `bits` integer bits and 15 - `bits` fraction bits; results have no integer bits. The same steps as the 32-bit
exponential and reciprocal of its softmax.
"""

import numpy as np

from tvm_pulp.qnn.fixed_point import rounding_shift

ONE = 32767
# exp(-2^k), k = -2 .. 4.
FACTORS = (25520, 19875, 12055, 4435, 600, 11, 0)
EIGHTH, EXP_MINUS_EIGHTH, THIRD = 4096, 28918, 10923
# 48/17, -32/17 and one with two integer bits: the first guess of a reciprocal and its improvement.
GUESS, SLOPE, UNIT = 23130, -15420, 8192


def high_product(a: np.ndarray | int, b: np.ndarray | int) -> np.ndarray:
    product = np.asarray(a, np.int64) * np.asarray(b, np.int64)
    nudged = product + np.where(product >= 0, 1 << 14, 1 - (1 << 14))
    return np.where(nudged >= 0, np.abs(nudged) >> 15, -(np.abs(nudged) >> 15))


def _left(value: np.ndarray, bits: int) -> np.ndarray:
    return np.clip(value << bits, -32768, 32767)


def exponential(a: np.ndarray, bits: int) -> np.ndarray:
    """exp(a) of a <= 0."""
    fraction = 15 - bits
    quarter = 1 << (fraction - 2)
    part = (a & (quarter - 1)) - quarter
    x = _left(part, bits) + EIGHTH
    x2 = high_product(x, x)
    x3, x4 = high_product(x2, x), high_product(x2, x2)
    series = rounding_shift(high_product(rounding_shift(x4, 2) + x3, THIRD) + x2, 1)
    result = np.minimum(EXP_MINUS_EIGHTH + high_product(EXP_MINUS_EIGHTH, x + series), ONE)
    rest = part - a
    for place, factor in enumerate(FACTORS):
        if bits > place - 2:
            result = np.where(rest & (1 << (fraction + place - 2)), high_product(result, factor), result)
    if bits > 5:
        result = np.where(a < -(1 << (fraction + 5)), 0, result)
    return np.where(a == 0, ONE, result)


def _inverse(a: np.ndarray) -> np.ndarray:
    """2 / (1 + a) of a in 0..1, with two integer bits."""
    half = (a + ONE + 1) >> 1
    x = GUESS + high_product(half, SLOPE)
    for _ in range(3):
        x = x + _left(high_product(x, UNIT - high_product(half, x)), 2)
    return x


def sigmoid(a: np.ndarray) -> np.ndarray:
    """Of three integer bits."""
    positive = _left(_inverse(exponential(np.minimum(a, -a), 3)), 1)
    return np.where(a == 0, 16384, np.where(a > 0, positive, ONE - positive))


def tanh(a: np.ndarray, bits: int) -> np.ndarray:
    positive = _left(_inverse(exponential(np.minimum(a, -a), bits + 1)) - UNIT, 2)
    return np.where(a == 0, 0, np.where(a > 0, positive, -positive))
