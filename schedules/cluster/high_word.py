"""Sums with a bias of floats, requantized by the upper half of a product: `struct tvm_pulp_high_word` of kernels.h.

A core limits the sum and shifts it left, so that the product keeps 31 bits of what decides about the result; a summand
for each channel holds the bias, the zero point and the half that rounds. Constants are searched that step from one
result to the next at the same sums as the rule; where a channel has none, the layer keeps its rule of 64 bits.
"""

from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np

from schedules.cluster.arithmetic import exact_bias
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import BYTES
from tvm_pulp.uma.conv_array.exact_rounding import Staircase, staircase_of

# Multipliers beside the nearest one that are tried.
_TRIED = sorted(range(-12, 13), key=abs)
# With a byte above them, sums behind the product stay inside 32 bits.
_MOST_RIGHT = 22
_FREE = 1 << 60
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
        return np.clip((_product(sums, np.int64(mul % (1 << 32)), self.left) + add >> right) + self.middle, *limits)


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
    known = staircase_of(rule, first, second, np.zeros_like(least))
    if known is None:
        return None
    reached, passed = known.steps <= most[:, None], known.steps > least[:, None]
    decides = np.where(reached & passed, np.maximum(np.abs(known.steps), np.abs(known.steps - 1)), 0)
    largest = [max(1, int(np.max(v))) for v in (np.maximum(np.abs(least), np.abs(most)), decides)]
    without, limiting = (31 - n.bit_length() for n in largest)
    found = _constants(rule, known, reached, passed, without)
    if found is not None or without == limiting:
        return found and replace(found, is_within=True)
    return _constants(rule, known, reached, passed, limiting)


def _constants(rule: Requant, known: Staircase, reached: np.ndarray, passed: np.ndarray, left: int) -> HighWord | None:
    limit = (1 << 31 - left) - 1
    middle = rule.low + ((rule.high - rule.low) >> 1) + 1
    exponent = np.floor(np.log2(known.real)).astype(np.int64)
    goals = known.results[None] - middle
    found = np.zeros((3, len(exponent)), np.int64)
    missing = np.ones(len(exponent), bool)
    # Less bits where the sum of product and summand has no room.
    for less in (0, 1, 2):
        right = np.minimum(left - 1 - exponent, _MOST_RIGHT) - less
        nearest = np.maximum(np.rint(known.real * np.exp2(32.0 - left + right)), 1).astype(np.int64)
        for beside in _TRIED:
            mul = nearest + beside
            at, before = (_product(known.steps - i, mul[:, None], left) for i in (0, 1))
            wanted = goals << np.maximum(right, 0)[:, None]
            low = np.where(reached, wanted - at, -_FREE).max(axis=1, initial=-_FREE)
            high = np.where(passed, wanted - 1 - before, _FREE).min(axis=1, initial=_FREE)
            one_side = np.where(low > -_FREE, np.maximum(low, 0), np.minimum(high, 0))
            add = np.where((low > -_FREE) & (high < _FREE), (low + high) // 2, one_side)
            ends = [_product(np.array(end), mul, left) + add for end in (-limit - 1, limit)]
            fits = missing & (low <= high) & (right >= 0) & (mul > 0) & (mul < 1 << 32) & (np.abs(add) < 1 << 31)
            fits &= np.all([np.abs(e) < 1 << 31 for e in ends], axis=0)
            found[:, fits] = np.stack([mul, add, right])[:, fits]
            missing &= ~fits
            if not missing.any():
                return HighWord(found.T.astype(np.uint32).view(np.int32), left, middle, is_within=False)
    return None


def _product(sums: np.ndarray, mul: np.ndarray, left: int) -> np.ndarray:
    """The upper half of the product with limited and shifted sums."""
    limit = (1 << 31 - left) - 1
    return (np.clip(sums, -limit - 1, limit) << left) * mul >> 32
