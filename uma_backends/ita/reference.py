"""Requantization and activations in numpy: how the engine makes bytes of sums."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uma_backends.ita.geometry import ACCUMULATOR_BITS, PRODUCT_BITS

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class ItaRequantization:
    """`acc * multiplier / 2^shift`, halves up, plus `add`, saturated to int8; the half is a bit of the product."""

    multiplier: int
    shift: int
    add: int = 0

    def apply(self, values: NDArray[np.integer]) -> Integers:
        product = values.astype(np.int64) * self.multiplier
        result = product >> self.shift
        if 0 < self.shift <= PRODUCT_BITS:
            result = result + ((product >> (self.shift - 1)) & 1)
        return np.clip(result + self.add, -128, 127)


@dataclass(frozen=True)
class Relu:
    """Zero below zero, then a second requantization."""

    after: ItaRequantization = ItaRequantization(1, 0)

    def apply(self, values: NDArray[np.integer]) -> Integers:
        return self.after.apply(np.maximum(values, 0))


@dataclass(frozen=True)
class ItaGelu:
    """Minus GELU by a polynomial of second order, then a second requantization."""

    b: int
    c: int
    after: ItaRequantization

    def apply(self, values: NDArray[np.integer]) -> Integers:
        q = values.astype(np.int64)
        polynomial = (np.minimum(np.abs(q), -self.b) + self.b) ** 2 + self.c
        erf = np.where(q < 0, -polynomial, polynomial)
        return self.after.apply(wrap(q * (erf + self.c)))


Activation = Relu | ItaGelu


def wrap(values: Integers) -> Integers:
    """The accumulator's bits in two's complement: it wraps."""
    half = 1 << (ACCUMULATOR_BITS - 1)
    return ((values + half) & (2 * half - 1)) - half
