"""Pass: TFLite's two roundings become one shift of the product's high word where the accumulator is small enough.

Generated loops spend most of their time on the requantization: 64-bit sums and two roundings with a comparison each.
For accumulators that the operands can make, a multiplier that is not negative and a shift to the right the short form
of the C runtime has the same results. Expects dialect operators with constant multipliers; guarantees the same values.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from tvm_pulp import qnn
from tvm_pulp.canonicalize.accumulator_bound import accumulator_interval
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, require
from tvm_pulp.qnn.requant import is_short

# Those that are often generated loops; layers with constant weights have kernels.
_OPERATORS = ("add", "matmul", "mul", "requantize")


class ShortRounding(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        require(qnn.is_qnn(value, *_OPERATORS))
        attributes = qnn.attributes(value)
        require(attributes["requant"] == "tflite")
        rule = qnn.Requant.of(attributes)
        constants = [constant(a) for a in value.args[-rule.operands :]]
        require(all(c is not None for c in constants))
        require(is_short(*self._interval(value), constants, rule.zero_point))
        changed = {**attributes, **replace(rule, wide=False).attributes()}
        return qnn.emit(qnn.name_of(value), value.args, changed)

    def _interval(self, call: Any) -> tuple[np.ndarray, np.ndarray]:
        """Least and largest accumulator; of a square by the difference that is squared."""
        difference = self.definition(call.args[0])
        if qnn.is_qnn(call, "mul") and call.args[0].same_as(call.args[1]) and qnn.is_qnn(difference, "add"):
            reach = max(int(np.abs(end).max()) for end in accumulator_interval(difference))
            return np.array([0]), np.array([min(reach**2, 1 << 62)])
        return accumulator_interval(call)
