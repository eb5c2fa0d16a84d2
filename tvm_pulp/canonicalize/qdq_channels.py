"""Islands that are a line of one 8-bit tensor for each channel: a requantization by channels.

Batch normalization on its own, products and sums with a vector of constants, with a limit behind them. All 256 values
of every channel are compared with what float32 gives: where a product, a sum and a shift cannot tell them, the island
stays as it is.
"""

from typing import Any

import numpy as np

from tvm_pulp import qnn
from tvm_pulp.canonicalize.qdq_rewriter import IntegerTarget, QdqRewriter
from tvm_pulp.canonicalize.qdq_unary import function_of_channels
from tvm_pulp.canonicalize.rewriter import needed, or_none, require, spec_of
from tvm_pulp.qnn.exact_shift import exact_lines


@or_none
def requantize(fold: QdqRewriter, real: Any, target: IntegerTarget, *, any_axis: bool = True) -> Any:
    """A requantization for the island that ends in `real`, or None.

    `any_axis`: also where channels are the last axis, though what is one row of constants has operators of its own.
    """
    require(target.dtype in qnn.BYTES)
    leaf, axis, values = needed(function_of_channels(fold, real))
    source = spec_of(leaf)
    require(any_axis or axis < len(source.shape) - 1)
    require(source.shape == spec_of(real).shape and source.shape[axis] == len(values))
    every, wanted = qnn.every_value(source.dtype).astype(np.int64), target.quantize(values).astype(np.int64)
    # The range of a type is clipped by one instruction; what an activation leaves inside it is narrower.
    for limits in ((target.low, target.high), (int(wanted.min()), int(wanted.max()))):
        lines = [_line(every, *both, limits) for both in zip(values / float(target.scale), wanted, strict=True)]
        slopes, offset = [slope for slope, _ in lines], max(abs(at_zero) for _, at_zero in lines)
        found = exact_lines([every] * len(lines), list(wanted), slopes, limits, offset + abs(target.zero_point))
        if found is not None:
            rule = qnn.Requant("pulp", found[2], 0, *limits, wide=False, dtype=target.dtype)
            return qnn.emit("requantize", [leaf, *found[:2]], {**rule.attributes(), "zero_point": 0, "axis": axis})
    return None


def _line(every: np.ndarray, real: np.ndarray, wanted: np.ndarray, limits: tuple[int, int]) -> tuple[float, float]:
    """Slope, and value at zero, of what is between the limits; where that is one step, of the steepest part."""
    inside = np.flatnonzero((wanted > limits[0]) & (wanted < limits[1]))
    if len(inside) < 2:
        first = int(np.abs(np.diff(real)).argmax())
        inside = np.array([first, first + 1])
    first, last = inside[0], inside[-1]
    slope = float((real[last] - real[first]) / (every[last] - every[first]))
    return slope, float(real[first]) - slope * float(every[first])
