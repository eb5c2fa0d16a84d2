"""Pass: output channels that always have the same value become plain constants.

Quantizers give channels whose weights are zero, or next to it, a tiny scale, and with it a bias near 2^30 or a shift
that fast kernels cannot requantize. Where the smallest and the largest accumulator of a channel have the same result,
that result becomes the bias, four times, with a factor of exactly one quarter and without weights. Expects dialect
layers with TFLite requantization and a bias; guarantees the same values.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, spec_of
from tvm_pulp.qnn import fixed_point
from tvm_pulp.qnn.operator import PREFIX
from tvm_pulp.qnn.requant import Requant

# multiplier / 2^31 * 2^exponent == 1 / 4: kernels like exponents below zero.
_QUARTER = (1 << 30, -1)


class DeadChannels(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        if not (qnn.is_qnn(value, "conv2d") or qnn.is_qnn(value, "dense")):
            return value
        attributes = qnn.attributes(value)
        weights = constant(value.args[1])
        if attributes["requant"] != "tflite" or not attributes["has_bias"] or weights is None:
            return value
        bias, mul, exponent = (constant(a).astype(np.int64) for a in value.args[2:5])
        mul, exponent = (np.broadcast_to(v, bias.shape) for v in (mul, exponent))
        rule, limits = Requant.of(attributes), _accumulators(value, weights, bias)
        # Beyond this the clipped result is the same.
        least, most = (np.clip(fixed_point.multiply(a, mul, exponent), -(1 << 16), 1 << 16) for a in limits)
        equal = np.equal(*(np.clip(v + rule.zero_point, rule.low, rule.high) for v in (least, most)))
        dead = equal & (mul >= 0) & (np.abs(limits).max(axis=0) < 1 << 31)
        if not dead.any():
            return value
        replaced = [
            np.where(dead, new, old) for new, old in ((4 * least, bias), (_QUARTER[0], mul), (_QUARTER[1], exponent))
        ]
        kept = weights * ~dead.reshape(-1, *[1] * (weights.ndim - 1))
        constants = [relax.const(kept.astype(weights.dtype)), *(relax.const(v.astype(np.int32)) for v in replaced)]
        return qnn.emit(value.op.name.removeprefix(PREFIX), [value.args[0], *constants], attributes)


def _accumulators(value: Any, weights: np.ndarray, bias: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest accumulator of every channel; padding, which adds nothing, lies between."""
    zero_point = qnn.attributes(value)["zero_point"]
    low, high = (limit - zero_point for limit in spec_of(value.args[0]).range)
    flat = weights.astype(np.int64).reshape(weights.shape[0], -1)
    return (
        bias + np.minimum(flat * low, flat * high).sum(axis=1),
        bias + np.maximum(flat * low, flat * high).sum(axis=1),
    )
