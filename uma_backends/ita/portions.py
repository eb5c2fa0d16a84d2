"""Long sums as several products: parts of the inner length, and weights in two parts of fewer bits.

A sum leaves the engine exactly up to so many bits as tiles of the inner length are left for its digits (`digits.py`).
Shorter products of smaller weights have smaller sums:

    x . w   is   base * (x . high) + x . low   where   w = base * high + low

The cores join the digits of all of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from tvm_pulp.qnn.requant import Requant
from tvm_pulp.uma import Refused
from uma_backends.ita.digits import Digits, choose_digits, digits_between
from uma_backends.ita.geometry import TILE, tiles
from uma_backends.ita.ita_form import spread
from uma_backends.ita.linear_arithmetic import check_depth, check_sums

# Parts of the inner length, and values of a step of the upper part of weights: what is tried.
_PARTS = (1, 2, 3, 4, 6)
_BASES = (1, 4, 8, 16, 32)
# Tiles of a pass that take as long as eight cores need to join a digit.
_JOINING = 8


@dataclass(frozen=True)
class LinearPortion:
    """Some panels of the input times constant weights; `depth` of the inputs count as its own."""

    digits: Digits
    weights: np.ndarray  # int8 [out][in]
    bias: np.ndarray  # int64 [out], the summand of the digits inside
    panels: slice
    depth: int

    @property
    def effort(self) -> int:
        """Time of all digits, in tiles of a pass."""
        digits, inner = self.digits, tiles(self.weights.shape[1])
        return sum(inner + len(digits.units(number)) + _JOINING for number in range(len(digits.steps)))


def linear_portions(
    weights: np.ndarray, bias: np.ndarray, rule: Requant, constants: Sequence[np.ndarray]
) -> tuple[LinearPortion, ...]:
    """One product where its sums fit, else the cheapest several; refuses where there are none.

    The input's zero point is inside the biases.
    """
    depth = weights.shape[1]
    try:
        check_depth(depth)
        check_sums(weights, bias)
        reach = int((np.abs(weights).sum(axis=1) * 128 + np.abs(bias)).max(initial=1))
        digits = choose_digits(rule, constants, reach, tiles(depth), bias)
        return (LinearPortion(digits, weights.astype(np.int8), bias + digits.offset, slice(None), depth),)
    except Refused:
        several = [found for parts, base in product(_PARTS, _BASES) if (found := _several(weights, bias, parts, base))]
        if not several:
            raise
        return min(several, key=lambda found: sum(p.effort for p in found))


def _several(weights: np.ndarray, bias: np.ndarray, parts: int, base: int) -> tuple[LinearPortion, ...] | None:
    """Products of as many parts of the inner length; None where a sum does not fit."""
    panels, depth = tiles(weights.shape[1]), weights.shape[1]
    each, placed, found = -(-panels // parts), spread(weights), list[LinearPortion]()
    for first in range(0, panels, each):
        own, inputs = placed[:, first * TILE : (first + each) * TILE], slice(first, first + each)
        counted = min(depth, (first + each) * TILE) - first * TILE
        for factor, values, summand in _in_two(own, bias if first == 0 else np.zeros_like(bias), base):
            rising, falling = np.maximum(values, 0).sum(axis=1), np.minimum(values, 0).sum(axis=1)
            lowest, highest = summand - 128 * rising + 127 * falling, summand + 127 * rising - 128 * falling
            try:
                digits = digits_between(int(lowest.min()), int(highest.max()), tiles(values.shape[1]), summand)
            except Refused:
                return None
            digits, own_depth = replace(digits, factor=factor), counted if factor == 1 else 0
            found.append(LinearPortion(digits, values.astype(np.int8), summand + digits.offset, inputs, own_depth))
    return tuple(found)


def _in_two(values: np.ndarray, bias: np.ndarray, base: int) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Weights and biases with the factor that they count with."""
    low, few = (values + base // 2) % base - base // 2, bias % base
    if base == 1:
        low, few = values, bias
    else:
        yield base, (values - low) // base, (bias - few) // base
    yield 1, low, few
