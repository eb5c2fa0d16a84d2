"""Softmax of 8-bit integers by a table of exponentials: follows the float softmax of a quantize/dequantize graph.

`table[d]` is exp(-d * scale) with 24 fraction bits, d the distance to the row's maximum. The quotient is rounded half
to even, as QuantizeLinear does: round(e * multiplier / (total << shift)) + zero_point.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tvm_pulp.qnn.loops import Loops, call, i32, i64
from tvm_pulp.qnn.softmax_i import row_maximum

FRACTION_BITS = 24
# Numerator and denominator stay inside 63 bits for rows of up to 2^15 values.
_MULTIPLIER_BITS, _LONGEST_ROW = 30, 1 << 15


def exponentials(scale: float) -> np.ndarray:
    """exp(-d * scale) for d = 0..255."""
    distance = np.arange(256, dtype=np.float32) * np.float32(scale)
    return np.asarray(np.round(np.exp(-distance.astype(np.float64)) * (1 << FRACTION_BITS)), np.int32)


def parameters(output_scale: float, length: int) -> dict[str, int] | None:
    """Multiplier and shift that divide by the output's scale; None where 64 bits are not enough."""
    if length > _LONGEST_ROW or not 2.0**-22 < output_scale < 2.0**22:
        return None
    shift = 0
    while shift < 22 and (1 << (shift + 1)) / output_scale < (1 << _MULTIPLIER_BITS):
        shift += 1
    return {"multiplier": round((1 << shift) / output_scale), "shift": shift}


def reference(attributes: dict[str, Any], x: np.ndarray, table: np.ndarray) -> np.ndarray:
    e = table.astype(np.int64)[x.max(-1, keepdims=True) - x]
    denominator = e.sum(-1, keepdims=True) << attributes["shift"]
    quotient, rest = np.divmod(e * attributes["multiplier"], denominator)
    up = (2 * rest > denominator) | ((2 * rest == denominator) & (quotient % 2 == 1))
    value = quotient + up + attributes["zero_point"]
    return np.clip(value, attributes["low"], attributes["high"]).astype(attributes["dtype"])


def row_loops(loops: Loops, attributes: dict[str, Any], x: Any, y: Any, row: Any, length: int, table: Any) -> None:
    largest = row_maximum(loops, x, row, length)
    total = loops.scalar("total", 0, "int64")
    with loops.loop("i", length) as i:
        total.set(total.value + i64(table[largest - i32(x[row, i])]))
    names = ("multiplier", "shift", "zero_point", "low", "high")
    with loops.loop("i", length) as i:
        e = table[largest - i32(x[row, i])]
        value = call("softmax_table_value", e, total.value, *(attributes[n] for n in names))
        loops.store(y, [row, i], value.astype(attributes["dtype"]))
