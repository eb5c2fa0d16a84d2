"""Pass: output channels without weights become plain constants.

Quantizers give channels whose weights are all zero a tiny scale, and with it a bias near 2^30 that fast kernels cannot
requantize. Such a channel is constant: its requantized value is computed here and becomes the bias, twice, with a
factor of exactly one half. Expects dialect layers with TFLite requantization and a bias; guarantees the same values.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant
from tvm_pulp.qnn import fixed_point
from tvm_pulp.qnn.operator import PREFIX

# multiplier / 2^31 * 2^exponent == 1 / 2: kernels like exponents that are not positive.
_HALF = (1 << 30, 0)


class DeadChannels(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        if not (qnn.is_qnn(value, "conv2d") or qnn.is_qnn(value, "dense")):
            return value
        attributes = qnn.attributes(value)
        weights = constant(value.args[1])
        if attributes["requant"] != "tflite" or not attributes["has_bias"] or weights is None:
            return value
        dead = ~weights.reshape(weights.shape[0], -1).any(axis=1)
        if not dead.any():
            return value
        bias, mul, exponent = (constant(a).astype(np.int64) for a in value.args[2:5])
        mul, exponent = (np.broadcast_to(v, bias.shape) for v in (mul, exponent))
        # Beyond this the clipped result is the same.
        settled = np.clip(fixed_point.multiply(bias, mul, exponent), -(1 << 16), 1 << 16)
        replaced = [
            np.where(dead, new, old) for new, old in ((2 * settled, bias), (_HALF[0], mul), (_HALF[1], exponent))
        ]
        arguments = [*value.args[:2], *(relax.const(v.astype(np.int32)) for v in replaced)]
        return qnn.emit(value.op.name.removeprefix(PREFIX), arguments, attributes)
