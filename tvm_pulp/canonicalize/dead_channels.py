"""Pass: output channels that always have the same value become plain constants.

Quantizers give channels whose weights are zero, or next to it, a tiny scale, and with it a bias near 2^30 or a shift
that fast kernels cannot requantize. Where the smallest and the largest accumulator of a channel have the same result,
that result becomes the bias, four times, with a factor of exactly one quarter and without weights. Expects dialect
layers with TFLite requantization and a bias; guarantees the same values.
"""

from typing import Any

import numpy as np

from tvm_pulp import qnn
from tvm_pulp.canonicalize.accumulator_bound import accumulator_interval
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, needed, require
from tvm_pulp.qnn import fixed_point

# multiplier / 2^31 * 2^exponent == 1 / 4: kernels like exponents below zero.
_QUARTER = (1 << 30, -1)


class DeadChannels(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        require(qnn.is_qnn(value, "conv2d", "dense"))
        attributes, weights = qnn.attributes(value), needed(constant(value.args[1]))
        require(attributes["requant"] == "tflite" and attributes["has_bias"])
        bias, mul, exponent = (constant(a).astype(np.int64) for a in value.args[2:5])
        mul, exponent = (np.broadcast_to(v, bias.shape) for v in (mul, exponent))
        rule, limits = qnn.Requant.of(attributes), accumulator_interval(value)
        # Beyond this the clipped result is the same.
        least, most = (np.clip(fixed_point.multiply(a, mul, exponent), -(1 << 16), 1 << 16) for a in limits)
        equal = np.equal(*(np.clip(v + rule.zero_point, rule.low, rule.high) for v in (least, most)))
        dead = equal & (mul >= 0) & (np.abs(limits).max(axis=0) < 1 << 31)
        require(dead.any())
        kept = weights * ~dead.reshape(-1, *[1] * (weights.ndim - 1))
        pairs = ((4 * least, bias), (_QUARTER[0], mul), (_QUARTER[1], exponent))
        replaced = [np.where(dead, new, old).astype(np.int32) for new, old in pairs]
        return qnn.emit(qnn.name_of(value), [value.args[0], kept.astype(weights.dtype), *replaced], attributes)
