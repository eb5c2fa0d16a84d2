"""TFLite's reference softmax on int8: fixed-point exponential and reciprocal, bit for bit.

Formats follow its kernel: the scaled difference has 5 integer bits, the sum 12, exponentials none.
"""

from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.fixed_point import doubling_high_multiply, quantize_multiplier, rounding_shift
from tvm_pulp.qnn.loops import Loops, call, i32
from tvm_pulp.qnn.softmax_i import row_maximum
from tvm_pulp.qnn.tensor_spec import Attributes

DIFFERENCE_BITS = 5
SUM_BITS = 12
INT32_MAX = (1 << 31) - 1
# exp(-2^k) in Q0.31 for the barrel shifter, k = -2 .. 4.
FACTORS = (1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)


def parameters(scale: float, beta: float) -> dict[str, int]:
    """Multiplier and shift of the input, and the difference below which the exponential is zero."""
    real = min(beta * scale * (1 << (31 - DIFFERENCE_BITS)), float(INT32_MAX))
    multiplier, left_shift = quantize_multiplier(real)
    radius = ((1 << DIFFERENCE_BITS) - 1) * (1 << (31 - DIFFERENCE_BITS)) / (1 << left_shift)
    return {"multiplier": multiplier, "left_shift": left_shift, "smallest": -int(np.floor(radius))}


def saturating_left(value: np.ndarray, bits: int) -> np.ndarray:
    return np.clip(value << bits, -(1 << 31), INT32_MAX)


def exponential(a: np.ndarray) -> np.ndarray:
    """exp(a) for a <= 0 in Q5.26, result in Q0.31."""
    quarter = 1 << 24
    remainder_part = (a & (quarter - 1)) - quarter
    x = saturating_left(remainder_part, DIFFERENCE_BITS) + (1 << 28)
    x2 = doubling_high_multiply(x, x)
    x3 = doubling_high_multiply(x2, x)
    x4 = doubling_high_multiply(x2, x2)
    third = doubling_high_multiply(rounding_shift(x4, 2) + x3, np.int64(715827883))
    series = rounding_shift(third + x2, 1)
    constant = np.int64(1895147668)
    result = constant + doubling_high_multiply(constant, x + series)
    remainder = remainder_part - a
    for place, factor in enumerate(FACTORS):
        shift = 26 - 2 + place
        result = np.where(remainder & (1 << shift), doubling_high_multiply(result, np.int64(factor)), result)
    return np.where(a == 0, INT32_MAX, result)


def reciprocal(total: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """1 / total as (Q0.31 mantissa, exponent)."""
    headroom = 31 - np.floor(np.log2(total.astype(np.float64))).astype(np.int64)
    over_unit = SUM_BITS - headroom
    fraction = (total << headroom) - (1 << 31)
    half = (fraction + INT32_MAX + 1) >> 1
    x = 1515870810 + doubling_high_multiply(half, np.int64(-1010580540))
    for _ in range(3):
        rest = (1 << 29) - doubling_high_multiply(half, x)
        x = x + saturating_left(doubling_high_multiply(x, rest), 2)
    return saturating_left(x, 1), over_unit


def reference(attributes: Attributes, x: np.ndarray) -> np.ndarray:
    difference = x - x.max(-1, keepdims=True)
    alive = difference >= attributes["smallest"]
    scaled = doubling_high_multiply(
        np.where(alive, difference, 0) << attributes["left_shift"], np.int64(attributes["multiplier"])
    )
    e = np.where(alive, exponential(scaled), 0)
    total = rounding_shift(e, SUM_BITS).sum(-1, keepdims=True)
    mantissa, over_unit = reciprocal(total)
    value = rounding_shift(doubling_high_multiply(mantissa, e), over_unit + 31 - 8) - 128
    return np.where(alive, np.clip(value, -128, 127), -128).astype(np.int8)


def row_loops(loops: Loops, attributes: Attributes, x: Any, y: Any, row: Any, length: int) -> None:
    largest = row_maximum(loops, x, row, length)
    smallest, multiplier, left_shift = (attributes[k] for k in ("smallest", "multiplier", "left_shift"))

    def exponential_of(i: Any) -> Any:
        return call("softmax_exponential", i32(x[row, i]) - largest, smallest, multiplier, left_shift)

    total = loops.sum("total", "i", length, lambda i: call("rounding_shift", exponential_of(i), SUM_BITS))
    inverse = loops.bind("inverse", call("softmax_reciprocal", total.value))
    bits = loops.bind("bits", call("softmax_output_bits", total.value))
    with loops.loop("i", length) as i:
        value = call("rounding_shift", call("doubling_high_multiply", inverse, exponential_of(i)), bits) - 128
        loops.store(y, [row, i], tirx.min(tirx.max(value, -128), 127).astype("int8"))
