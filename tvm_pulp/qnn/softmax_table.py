"""Softmax of 8-bit integers by a table of exponentials: follows the float softmax of a quantize/dequantize graph.

`table[d]` is exp(-d * scale) in fixed point, d the distance to the row's maximum; sums of a row are exact in 32 bits.
The quotient is taken in single precision and rounded half to even, as QuantizeLinear does:

    y = round(e * (gain / total)) + zero_point, gain the inverse of the output's scale
"""

from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.either import rounded
from tvm_pulp.qnn.loops import Loops, i32
from tvm_pulp.qnn.record import Rounded
from tvm_pulp.qnn.softmax_form import SoftmaxAttributes
from tvm_pulp.qnn.softmax_i import row_maximum
from tvm_pulp.quick_records import quick_record

# An exponential is exact in single precision.
_MOST_FRACTION_BITS, _LEAST_FRACTION_BITS = 24, 16


@quick_record(kw_only=True, slots=False)
class TableSoftmaxAttributes(SoftmaxAttributes, Rounded):
    """The form `table`: what all exponentials add up to in units of the result."""

    forms = ("table",)

    gain: float


def fraction_bits(length: int) -> int | None:
    """Fraction bits of exponentials of which so many are summed; None where too few are left."""
    bits = min(_MOST_FRACTION_BITS, 30 - (length - 1).bit_length())
    return bits if bits >= _LEAST_FRACTION_BITS else None


def exponentials(scale: float, bits: int) -> np.ndarray:
    """exp(-d * scale) for d = 0..255."""
    distance = np.arange(256, dtype=np.float32) * np.float32(scale)
    return np.asarray(np.round(np.exp(-distance.astype(np.float64)) * (1 << bits)), np.int32)


def gain(output_scale: float) -> float:
    """The factor that makes a quotient an integer of the output."""
    return float(np.float32(1 / output_scale))


def reference(attributes: TableSoftmaxAttributes, x: np.ndarray, table: np.ndarray) -> np.ndarray:
    e = table.astype(np.int64)[x.max(-1, keepdims=True) - x]
    factor = np.float32(attributes.gain) / e.sum(-1, keepdims=True).astype(np.float32)
    return np.asarray(rounded(e.astype(np.float32) * factor, attributes, of_result=True))


def row_loops(
    loops: Loops, attributes: TableSoftmaxAttributes, x: Any, y: Any, row: Any, length: int, table: Any
) -> None:
    largest = row_maximum(loops, x, row, length)
    total = loops.sum("total", "i", length, lambda i: table[largest - i32(x[row, i])])
    factor = loops.bind("factor", tirx.const(attributes.gain, "float32") / total.value.astype("float32"))
    with loops.loop("i", length) as i:
        e = table[largest - i32(x[row, i])].astype("float32")
        loops.store(y, [row, i], rounded(e * factor, attributes, of_result=True))
