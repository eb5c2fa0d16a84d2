"""Sums of layers that are not quantized in between, as PyTorch's quantizers leave them in front of a residual sum.

quantize(relu(conv2d(x, w) + dequantize(y)))   becomes   add_accumulators(conv2d(x, w), y)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvm_pulp import qnn
from tvm_pulp.canonicalize.qdq_rewriter import Accumulators, IntegerTarget, QdqRewriter
from tvm_pulp.canonicalize.rewriter import needed, or_none, require, spec_of

# Each summand stays below 2^30 in fixed point, so that their sum and the half that rounds it fit 32 bits.
_SUMMAND_BITS = 29
_MOST_FRACTION = 20
# With fewer bits the fixed point would round noticeably differently from the sum of floats.
_LEAST_FRACTION = 10


@dataclass(frozen=True)
class Summand:
    """Integers, what a unit of each channel is worth, and how large they get; `zero_point` is None in accumulators."""

    value: Any
    units: np.ndarray
    reach: int
    zero_point: int | None
    # As in `Accumulators`.
    axis: int = -1


@or_none
def add(fold: QdqRewriter, call: Any, target: IntegerTarget) -> Any:
    """A sum of which at least one operand is a layer that no quantize follows."""
    found = [_summand(fold, operand) for operand in call.args]
    shape = spec_of(call).shape
    summands = [s for s in found if s is not None and spec_of(s.value).shape == shape]
    require(len(summands) == 2 and any(s.zero_point is None for s in summands) and len(shape) >= 2)
    # Convolutions are channels first here, products of matrices channels last.
    return joined(summands, target, axis=1 if any(s.axis != -1 for s in summands) else -1)


@or_none
def joined(summands: Sequence[Summand], target: IntegerTarget, axis: int) -> Any:
    """The sum of two, rounded once; None where fixed point would be too coarse. `axis` is that of the channels."""
    largest = max(float(s.units.max()) * s.reach for s in summands) / float(target.scale)
    fraction = min(_MOST_FRACTION, _SUMMAND_BITS - math.ceil(math.log2(max(largest, 1.0))))
    require(fraction >= _LEAST_FRACTION)
    attributes = {**target.requant("half_up").attributes(), "fraction": fraction, "axis": axis}
    factors = []
    for side, summand in zip(("a", "b"), summands, strict=True):
        left = 0 if summand.zero_point is not None else 31 - max(summand.reach, 1).bit_length()
        bits = fraction if summand.zero_point is not None else fraction + 32 - left
        factor = np.rint(summand.units / float(target.scale) * 2.0**bits)
        require(factor.max() < 1 << 31)
        factors.append(factor.astype(np.int32))
        attributes |= {f"left_{side}": left, f"zero_point_{side}": summand.zero_point or 0}
    return qnn.emit("add_accumulators", [*(s.value for s in summands), *factors], attributes)


@or_none
def _summand(fold: QdqRewriter, operand: Any) -> Summand:
    x = fold.quantized(operand)
    if x is not None:
        require(x.dtype in qnn.BYTES)
        return Summand(x.value, np.array([float(x.scale)]), x.reach, x.zero_point)
    taken = Accumulators()
    layer = needed(fold.layer(operand, taken))
    return Summand(fold.bound(layer, operand.name), taken.units, taken.reach, None, taken.axis)
