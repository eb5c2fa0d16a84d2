"""TFLite's reference softmax on int8: fixed-point exponential and reciprocal, bit for bit.

Formats follow its kernel: the scaled difference has 5 integer bits, the sum 12, exponentials none.
"""

from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.fixed_point import doubling_high_multiply, quantize_multiplier, rounding_shift
from tvm_pulp.qnn.fixed_point_functions import exponential, inverse, saturating_left
from tvm_pulp.qnn.loops import Loops, call, i32
from tvm_pulp.qnn.softmax_form import SoftmaxAttributes
from tvm_pulp.qnn.softmax_i import row_maximum
from tvm_pulp.quick_records import quick_record

DIFFERENCE_BITS = 5
SUM_BITS = 12
INT32_MAX = (1 << 31) - 1


@quick_record(kw_only=True, slots=False)
class TfliteSoftmaxAttributes(SoftmaxAttributes):
    """The form `tflite`: the scale of differences, and the smallest that counts."""

    forms = ("tflite",)

    multiplier: int
    left_shift: int
    smallest: int


def parameters(scale: float, beta: float) -> dict[str, int]:
    """Multiplier and shift of the input, and the difference below which the exponential is zero."""
    real = min(beta * scale * (1 << (31 - DIFFERENCE_BITS)), float(INT32_MAX))
    multiplier, left_shift = quantize_multiplier(real)
    radius = ((1 << DIFFERENCE_BITS) - 1) * (1 << (31 - DIFFERENCE_BITS)) / (1 << left_shift)
    return {"multiplier": multiplier, "left_shift": left_shift, "smallest": -int(np.floor(radius))}


def reciprocal(total: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """1 / total as (Q0.31 mantissa, exponent)."""
    headroom = 31 - np.floor(np.log2(total.astype(np.float64))).astype(np.int64)
    return saturating_left(inverse((total << headroom) - (1 << 31), 31), 1, 31), SUM_BITS - headroom


def exponentials(attributes: TfliteSoftmaxAttributes, difference: np.ndarray) -> np.ndarray:
    """Exponentials of differences to the largest value, in Q0.31; zero where they are too small."""
    alive = difference >= attributes.smallest
    scaled = doubling_high_multiply(np.where(alive, difference, 0) << attributes.left_shift, attributes.multiplier)
    return np.where(alive, exponential(scaled, DIFFERENCE_BITS, 31), 0)


def reference(attributes: TfliteSoftmaxAttributes, x: np.ndarray) -> np.ndarray:
    difference = x - x.max(-1, keepdims=True)
    e = exponentials(attributes, difference)
    mantissa, over_unit = reciprocal(rounding_shift(e, SUM_BITS).sum(-1, keepdims=True))
    value = rounding_shift(doubling_high_multiply(mantissa, e), over_unit + 31 - 8) - 128
    alive = difference >= attributes.smallest
    return np.where(alive, np.clip(value, -128, 127), -128).astype(np.int8)


def row_loops(loops: Loops, attributes: TfliteSoftmaxAttributes, x: Any, y: Any, row: Any, length: int) -> None:
    largest = row_maximum(loops, x, row, length)
    smallest, multiplier, left_shift = attributes.smallest, attributes.multiplier, attributes.left_shift

    def exponential_of(i: Any) -> Any:
        return call("softmax_exponential", i32(x[row, i]) - largest, smallest, multiplier, left_shift)

    total = loops.sum("total", "i", length, lambda i: call("rounding_shift", exponential_of(i), SUM_BITS))
    inverse = loops.bind("inverse", call("softmax_reciprocal", total.value))
    bits = loops.bind("bits", call("softmax_output_bits", total.value))
    with loops.loop("i", length) as i:
        value = call("rounding_shift", call("doubling_high_multiply", inverse, exponential_of(i)), bits) - 128
        loops.store(y, [row, i], tirx.min(tirx.max(value, -128), 127).astype("int8"))
