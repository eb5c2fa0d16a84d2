"""Exponential and reciprocal of TFLite's kernels, and what is made of them, in fixed point of 16 or 32 bits, exactly.

Beside its sign a number has `width` bits, 15 or 31: `bits` integer bits, the rest fraction bits. Results of functions
have no integer bits unless it is said.
"""

import math

import numpy as np

from tvm_pulp.qnn.fixed_point import doubling_high_multiply, rounding_shift

ONE16 = (1 << 15) - 1


def saturating_left(value: np.ndarray, shift: int, width: int) -> np.ndarray:
    return np.clip(value << shift, -(1 << width), (1 << width) - 1)


def exponential(a: np.ndarray, bits: int, width: int) -> np.ndarray:
    """exp(a) of a <= 0: a series around -1/8 for what is left of whole quarters, times a factor per bit of those."""

    def product(p: np.ndarray | int, q: np.ndarray | int) -> np.ndarray:
        return doubling_high_multiply(p, q, width)

    def number(value: float) -> int:
        return round(value * (1 << width))

    fraction, one = width - bits, (1 << width) - 1
    quarter = 1 << (fraction - 2)
    part = (a & (quarter - 1)) - quarter
    x = saturating_left(part, bits, width) + number(1 / 8)
    x2 = product(x, x)
    x3, x4 = product(x2, x), product(x2, x2)
    series = rounding_shift(product(rounding_shift(x4, 2) + x3, number(1 / 3)) + x2, 1)
    start = number(math.exp(-1 / 8))
    result = np.minimum(start + product(start, x + series), one)
    for power in range(-2, min(bits, 5)):
        there = (part - a) & (1 << (fraction + power))
        result = np.where(there, product(result, number(math.exp(-(2.0**power)))), result)
    if bits > 5:
        result = np.where(a < -(1 << (fraction + 5)), 0, result)
    return np.where(a == 0, one, result)


def inverse(a: np.ndarray, width: int) -> np.ndarray:
    """2 / (1 + a) of a in 0..1, with two integer bits: a straight line, and three steps of Newton."""
    unit = 1 << (width - 2)
    half = (a + (1 << width)) >> 1
    x = round(48 / 17 * unit) + doubling_high_multiply(half, round(-32 / 17 * unit), width)
    for _ in range(3):
        rest = unit - doubling_high_multiply(half, x, width)
        x = x + saturating_left(doubling_high_multiply(x, rest, width), 2, width)
    return x


def sigmoid16(a: np.ndarray) -> np.ndarray:
    """Of three integer bits."""
    positive = saturating_left(inverse(exponential(np.minimum(a, -a), 3, 15), 15), 1, 15)
    return np.where(a == 0, 1 << 14, np.where(a > 0, positive, ONE16 - positive))


def tanh16(a: np.ndarray, bits: int) -> np.ndarray:
    positive = saturating_left(inverse(exponential(np.minimum(a, -a), bits + 1, 15), 15) - (1 << 13), 2, 15)
    return np.where(a == 0, 0, np.where(a > 0, positive, -positive))
