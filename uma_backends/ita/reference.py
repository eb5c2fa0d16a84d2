"""The arithmetic of ITA in numpy."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uma_backends.ita.geometry import ACCUMULATOR_BITS, GROUP, OCTAVES_NUMERATOR, PRODUCT_BITS

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Requantization:
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

    after: Requantization = Requantization(1, 0)

    def apply(self, values: NDArray[np.integer]) -> Integers:
        return self.after.apply(np.maximum(values, 0))


@dataclass(frozen=True)
class Gelu:
    """Minus GELU by a polynomial of second order, then a second requantization."""

    b: int
    c: int
    after: Requantization

    def apply(self, values: NDArray[np.integer]) -> Integers:
        q = values.astype(np.int64)
        polynomial = (np.minimum(np.abs(q), -self.b) + self.b) ** 2 + self.c
        erf = np.where(q < 0, -polynomial, polynomial)
        return self.after.apply(wrap(q * (erf + self.c)))


Activation = Relu | Gelu


def wrap(values: Integers) -> Integers:
    """The accumulator's bits in two's complement: it wraps."""
    half = 1 << (ACCUMULATOR_BITS - 1)
    return ((values + half) & (2 * half - 1)) - half


def softmax(logits: NDArray[np.integer]) -> NDArray[np.uint8]:
    """Rows of a multiple of 16 logits; a step of the logits is an octave."""
    x = logits.astype(np.int64)
    largest = np.full((*x.shape[:-1], 1), -128, np.int64)
    denominator = np.zeros_like(largest)
    for first in range(0, x.shape[-1], GROUP):
        group = x[..., first : first + GROUP]
        new = np.maximum(largest, group.max(-1, keepdims=True))
        terms = np.where(new - group > 8, 0, 256 >> np.minimum(new - group, 8))
        denominator = (denominator >> np.minimum(new - largest, 62)) + terms.sum(-1, keepdims=True)
        largest = new
    inverse = OCTAVES_NUMERATOR // denominator
    return (inverse >> np.minimum(largest - x, 62)).astype(np.uint8)


def linear(
    x: NDArray[np.integer],
    weights: NDArray[np.integer],
    biases: NDArray[np.integer] | int,
    rule: Requantization,
    activation: Activation | None = None,
) -> NDArray[np.int8]:
    """Rows of x times [in][out] weights."""
    sums = wrap(x.astype(np.int64) @ weights.astype(np.int64) + biases)
    result = rule.apply(sums)
    return (activation.apply(result) if activation is not None else result).astype(np.int8)


def attention(
    q: NDArray[np.integer], k: NDArray[np.integer], v: NDArray[np.integer], logits: Requantization, out: Requantization
) -> NDArray[np.int8]:
    """One head: requantized products of queries and keys, their softmax, its products with the values."""
    rows = linear(q, k.T, 0, logits)
    return linear(softmax(rows), v, 0, out)
