"""Sums of layers that are not quantized in between, as PyTorch's quantizers leave them in front of a residual sum.

quantize(relu(conv2d(x, w) + dequantize(y)))   becomes   add_accumulators(conv2d(x, w), y)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.accumulators import Accumulators
from tvm_pulp.canonicalize.qdq_operands import IntegerTarget
from tvm_pulp.qnn.operator import spec_of
from tvm_pulp.qnn.requant import Requant

if TYPE_CHECKING:
    from tvm_pulp.canonicalize.qdq_rewriter import QdqRewriter

# Each summand stays below 2^30 in fixed point, so that their sum and the half that rounds it fit 32 bits.
_SUMMAND_BITS = 29
_MOST_FRACTION = 20
# With fewer bits the fixed point would round noticeably differently from the sum of floats.
_LEAST_FRACTION = 10
_BYTES = ("int8", "uint8")


@dataclass(frozen=True)
class Summand:
    """Integers, what a unit of each channel is worth, and how large they get; `zero_point` is None in accumulators."""

    value: Any
    units: np.ndarray
    reach: int
    zero_point: int | None


def add(fold: QdqRewriter, call: Any, target: IntegerTarget) -> Any:
    """A sum of which at least one operand is a layer that no quantize follows."""
    found = [_summand(fold, operand) for operand in call.args]
    shape = spec_of(call).shape
    summands = [s for s in found if s is not None and spec_of(s.value).shape == shape]
    if len(summands) != 2 or all(s.zero_point is not None for s in summands) or len(shape) < 2:
        return None
    # Convolutions are channels first here, products of matrices channels last.
    return joined(summands, target, axis=1 if _has_images(fold, call) else -1)


def joined(summands: Sequence[Summand], target: IntegerTarget, axis: int) -> Any:
    """The sum of two, rounded once; None where fixed point would be too coarse. `axis` is that of the channels."""
    largest = max(float(s.units.max()) * s.reach for s in summands) / float(target.scale)
    fraction = min(_MOST_FRACTION, _SUMMAND_BITS - math.ceil(math.log2(max(largest, 1.0))))
    if fraction < _LEAST_FRACTION:
        return None
    rule = Requant("half_up", 0, target.zero_point, target.low, target.high, dtype=target.dtype)
    attributes = {**rule.attributes(), "fraction": fraction, "axis": axis}
    factors = []
    for side, summand in zip(("a", "b"), summands, strict=True):
        left = 0 if summand.zero_point is not None else 31 - max(summand.reach, 1).bit_length()
        bits = fraction if summand.zero_point is not None else fraction + 32 - left
        factor = np.rint(summand.units / float(target.scale) * 2.0**bits)
        if factor.max() >= 1 << 31:
            return None
        factors.append(relax.const(factor.astype(np.int32)))
        attributes |= {f"left_{side}": left, f"zero_point_{side}": summand.zero_point or 0}
    return qnn.emit("add_accumulators", [*(s.value for s in summands), *factors], attributes)


def _summand(fold: QdqRewriter, operand: Any) -> Summand | None:
    x = fold.operands.quantized(operand)
    if x is not None:
        scale = np.array([float(x.scale)])
        return Summand(x.value, scale, x.reach, x.zero_point) if x.dtype in _BYTES else None
    taken = Accumulators()
    layer = fold.layer(operand, taken)
    return None if layer is None else Summand(fold.bound(layer, operand.name), taken.units, taken.reach, None)


def _has_images(fold: QdqRewriter, call: Any) -> bool:
    return any(fold.layer_name(operand) not in ("", "relax.matmul") for operand in call.args)
