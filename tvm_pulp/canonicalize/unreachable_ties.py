"""Pass: rounding half to even becomes rounding half up where no accumulator lies half way between two results.

ONNX rounds ties to even. A tie needs an accumulator that is an odd multiple of a power of two, and with scales that are
not short the smallest such one lies far beyond what weights and inputs can reach: the two roundings are then the same
function, and half up is one addition. Expects dialect operators with constant multipliers; guarantees the same values.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from tvm_pulp import qnn
from tvm_pulp.canonicalize.accumulator_bound import accumulator_interval
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, require

_OPERATORS = ("conv2d", "dense", "matmul", "mul", "requantize", "avg_pool")


class UnreachableTies(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        require(qnn.is_qnn(value, *_OPERATORS))
        attributes = qnn.attributes(value)
        require(attributes["requant"] == "half_even")
        rule = qnn.Requant.of(attributes)
        mul, shift = (constant(a).astype(np.int64) for a in value.args[-rule.operands :])
        require(not _has_tie(*accumulator_interval(value), mul, shift, rule))
        changed = {**attributes, **replace(rule, kind="half_up").attributes()}
        return qnn.emit(qnn.name_of(value), value.args, changed)


def _has_tie(low: np.ndarray, high: np.ndarray, mul: np.ndarray, shift: np.ndarray, rule: qnn.Requant) -> bool:
    """Tell if acc * mul is an odd multiple of 2^(shift - 1) for some accumulator whose result depends on it."""
    low, high, mul, shift = np.broadcast_arrays(low, high, mul, shift)
    even = np.where(mul == 0, 0, mul & -mul)  # the power of two inside the multiplier
    # A tie is acc * odd * even == odd * half: acc is then an odd multiple of half / even, which must be whole.
    half = np.int64(1) << (shift - 1)
    unit = np.where(even > 0, half // np.maximum(even, 1), 0)
    # Results beyond the range are clipped, tie or not; ties lie one unit of the result apart.
    real = mul * np.exp2(-shift.astype(np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = [(end - rule.zero_point) / real for end in (rule.low - 1, rule.high + 1)]
    least = np.maximum(low, np.nan_to_num(np.minimum(*ends), nan=-np.inf))
    most = np.minimum(high, np.nan_to_num(np.maximum(*ends), nan=np.inf))
    possible = (unit > 0) & (least <= most)
    step = np.maximum(unit, 1).astype(np.float64)
    # The first odd multiple of the unit from `least` on.
    first = 2 * np.ceil((least / step - 1) / 2) + 1
    return bool((possible & (first * step <= most)).any())
