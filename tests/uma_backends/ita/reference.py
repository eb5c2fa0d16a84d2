"""The arithmetic of ITA's products and attention in numpy."""

import numpy as np
from numpy.typing import NDArray

from uma_backends.ita.geometry import GROUP
from uma_backends.ita.reference import Activation, ItaRequantization, wrap

OCTAVES_NUMERATOR = 255 * 256


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
    rule: ItaRequantization,
    activation: Activation | None = None,
) -> NDArray[np.int8]:
    """Rows of x times [in][out] weights."""
    sums = wrap(x.astype(np.int64) @ weights.astype(np.int64) + biases)
    result = rule.apply(sums)
    return (activation.apply(result) if activation is not None else result).astype(np.int8)


def attention(
    q: NDArray[np.integer],
    k: NDArray[np.integer],
    v: NDArray[np.integer],
    logits: ItaRequantization,
    out: ItaRequantization,
) -> NDArray[np.int8]:
    """One head: requantized products of queries and keys, their softmax, its products with the values."""
    rows = linear(q, k.T, 0, logits)
    return linear(softmax(rows), v, 0, out)
