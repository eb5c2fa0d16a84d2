"""Sums with a bias of floats, requantized by the upper half of a product: `struct tvm_pulp_high_word` of kernels.h.

A core limits the sum and shifts it left, so that the product keeps 31 bits of what decides about the result; a summand
for each channel holds the bias, the zero point and the half that rounds. Constants are searched that step from one
result to the next at the same sums as the rule; where a channel has none, the layer keeps its rule of 64 bits.
"""

from dataclasses import dataclass, replace
from functools import partial
from weakref import WeakKeyDictionary

import numpy as np

from schedules.cluster.arithmetic import exact_bias
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.staircase import LineTarget, Staircase, factors_of, fit, staircase_of
from tvm_pulp.qnn.tensor_spec import BYTES

# Multipliers beside the nearest one that are tried.
_TRIED = 12
# With a byte above them, sums behind the product stay inside 32 bits.
_MOST_RIGHT = 22
_WITHIN_LIMIT = 32
# Looked for once, though planning asks for every tile.
_KNOWN: "WeakKeyDictionary[Layer, HighWord | None]" = WeakKeyDictionary()


@dataclass(frozen=True)
class HighWord:
    """`constants`: multiplier, summand and shift to the right of each channel; `left`: bits that sums are shifted."""

    constants: np.ndarray
    left: int
    middle: int
    # No sum is beyond the limit.
    is_within: bool

    @property
    def shift(self) -> int:
        """The kernels' field of the requantization."""
        return self.left + (_WITHIN_LIMIT if self.is_within else 0)

    def apply(self, sums: np.ndarray, channel: int, limits: tuple[int, int]) -> np.ndarray:
        """Results of sums of a channel, as the kernels compute them."""
        mul, add, right = (int(c) for c in self.constants[channel])
        return np.clip((_product(sums, np.array(mul % (1 << 32)), self.left) + add >> right) + self.middle, *limits)


def high_word_of(layer: Layer) -> HighWord | None:
    """Constants of a layer of bytes with constant weights; None where there are none."""
    rule, x = Requant.of(layer.attributes), layer.inputs[0].spec
    if rule.out_dtype not in BYTES or x.dtype not in BYTES:
        return None
    if layer not in _KNOWN:
        weights, zero_point = layer.inputs[1].values.astype(np.int64), layer.attributes["zero_point"]
        # Padding has the zero point, whatever the range of the values.
        ends = (min(x.range[0], zero_point), max(x.range[1], zero_point))
        products = [weights.reshape(weights.shape[0], -1) * end for end in ends]
        least, most = (end(*products).sum(axis=1) + exact_bias(layer) for end in (np.minimum, np.maximum))
        mul, offset = (t.values for t in rule.tensors(layer.inputs))
        _KNOWN[layer] = fit_high_word(rule, (mul, offset), least, most)
    return _KNOWN[layer]


def fit_high_word(
    rule: Requant, operands: tuple[np.ndarray, np.ndarray], least: np.ndarray, most: np.ndarray
) -> HighWord | None:
    """Constants for sums from `least` to `most` of every channel; None where there are none."""
    first, second = (np.broadcast_to(np.asarray(o, np.int64).reshape(-1), least.shape) for o in operands)
    factors = factors_of(rule, (first, second))
    if not (factors > 0).all():
        return None
    known = staircase_of(rule, (first, second), np.zeros_like(least), least, most)
    decides = np.where(known.reached & known.passed, np.maximum(np.abs(known.at), np.abs(known.before)), 0)
    largest = [max(1, int(np.max(v))) for v in (np.maximum(np.abs(least), np.abs(most)), decides)]
    without, limiting = (31 - n.bit_length() for n in largest)
    found = _constants(rule, known, factors, without)
    if found is not None or without == limiting:
        return found and replace(found, is_within=True)
    return _constants(rule, known, factors, limiting)


def _constants(rule: Requant, known: Staircase, factors: np.ndarray, left: int) -> HighWord | None:
    middle = rule.low + ((rule.high - rule.low) >> 1) + 1
    stairs = replace(known, at=_limited(known.at, left), before=_limited(known.before, left))
    exponent = np.floor(np.log2(factors)).astype(np.int64)
    found = np.zeros((3, len(exponent)), np.int64)
    missing = np.arange(len(exponent))
    # Less bits where the sum of product and summand has no room.
    for less in (0, 1, 2):
        right = np.minimum(left - 1 - exponent[missing], _MOST_RIGHT) - less
        nearest = np.maximum(np.rint(factors[missing] * np.exp2(32.0 - left + right)), 1).astype(np.int64)
        goals = stairs.of_channels(missing).reaching((known.results - middle) << np.maximum(right, 0)[:, None])
        lines = fit([goals], nearest, LineTarget(partial(_accepts, right, left), _TRIED, dropped=32))
        found[:, missing] = np.stack([lines.multipliers, lines.summands[0], right])
        missing = missing[lines.missing]
        if not len(missing):
            return HighWord(found.T.astype(np.uint32).view(np.int32), left, middle, is_within=False)
    return None


def _accepts(right: np.ndarray, left: int, channels: np.ndarray, mul: np.ndarray, summands: np.ndarray) -> np.ndarray:
    """Tell for channels if multipliers and sums of the product and the summand have 32 bits."""
    limit, (add,) = 1 << 31, summands
    sums = [_product(np.array(end), mul, left) + add for end in (-limit, limit)]
    fits = (right[channels] >= 0) & (mul > 0) & (mul < 1 << 32) & (np.abs(add) < limit)
    return np.asarray(fits & np.all([np.abs(s) < limit for s in sums], axis=0))


def _product(sums: np.ndarray, mul: np.ndarray, left: int) -> np.ndarray:
    """The upper half of the product with limited and shifted sums."""
    return _limited(sums, left) * mul >> 32


def _limited(sums: np.ndarray, left: int) -> np.ndarray:
    """Sums within as many bits as the shift to the left leaves, shifted."""
    limit = (1 << 31 - left) - 1
    return np.clip(sums, -limit - 1, limit) << left
