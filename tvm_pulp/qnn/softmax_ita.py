"""Shift-only softmax of the ITA accelerator: over a whole row, and in the streaming form of its hardware."""

from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.loops import Loops, call, i32
from tvm_pulp.qnn.softmax_i import row_maximum
from tvm_pulp.qnn.tensor_spec import Attributes

# A unit of the exponent is 32 input steps; the shift rounds to nearest.
UNIT_BITS = 5
HALF_UNIT = 1 << (UNIT_BITS - 1)


def reference_max(attributes: Attributes, x: np.ndarray) -> np.ndarray:
    s = (x.max(-1, keepdims=True) - x + HALF_UNIT) >> UNIT_BITS
    inverse = ((attributes["levels"] - 1) * 256) // (256 >> s).sum(-1, keepdims=True)
    return (inverse >> s).astype(np.uint8)


def reference_partial_max(attributes: Attributes, x: np.ndarray) -> np.ndarray:
    group = attributes["group"]
    largest = np.full((*x.shape[:-1], 1), -128, np.int64)
    denominator = np.zeros_like(largest)
    for first in range(0, x.shape[-1], group):
        block = x[..., first : first + group]
        best = block.max(-1, keepdims=True)
        shrink = np.where(best > largest, (best - largest + HALF_UNIT) >> UNIT_BITS, 0)
        largest = np.maximum(largest, best)
        terms = 256 >> ((largest - block + HALF_UNIT) >> UNIT_BITS)
        denominator = (denominator >> shrink) + terms.sum(-1, keepdims=True)
    inverse = ((attributes["levels"] // 2 - 1) * 256) // denominator
    return (inverse >> ((largest - x + HALF_UNIT) >> UNIT_BITS)).astype(attributes.get("dtype", "uint8"))


def distance(largest: Any, value: Any) -> Any:
    """How often the value must be halved."""
    return (largest - value + HALF_UNIT) >> UNIT_BITS


def write_row(loops: Loops, x: Any, y: Any, row: Any, length: int, inverse: Any, largest: Any) -> None:
    with loops.loop("i", length) as i:
        shifted = inverse >> distance(largest, i32(x[row, i]))
        loops.store(y, [row, i], shifted.astype(y.dtype))


def row_loops_max(loops: Loops, attributes: Attributes, x: Any, y: Any, row: Any, length: int) -> None:
    largest = row_maximum(loops, x, row, length)
    total = loops.sum("total", "i", length, lambda i: i32(256) >> distance(largest, i32(x[row, i])))
    inverse = loops.bind("inverse", tirx.truncdiv(i32((attributes["levels"] - 1) * 256), total.value))
    write_row(loops, x, y, row, length, inverse, largest)


def row_loops_partial_max(loops: Loops, attributes: Attributes, x: Any, y: Any, row: Any, length: int) -> None:
    group = attributes["group"]
    largest, denominator = loops.scalar("largest", -128), loops.scalar("denominator", 0)
    with loops.loop("block", -(-length // group)) as block:
        first = loops.bind("first", block * group)
        count = loops.bind("count", tirx.min(i32(group), length - first))
        best = loops.scalar("best", -128)
        with loops.loop("i", count) as i:
            best.set(tirx.max(best.value, i32(x[row, first + i])))
        shrink = loops.bind("shrink", distance(tirx.max(best.value, largest.value), largest.value))
        # Without a new maximum the distance is (0 + 16) >> 5 = 0: nothing shrinks.
        largest.set(tirx.max(largest.value, best.value))
        denominator.set(call("shift_right", denominator.value, shrink))
        with loops.loop("i", count) as i:
            denominator.set(denominator.value + (i32(256) >> distance(largest.value, i32(x[row, first + i]))))
    numerator = (attributes["levels"] // 2 - 1) * 256
    inverse = loops.bind("inverse", tirx.truncdiv(i32(numerator), denominator.value))
    write_row(loops, x, y, row, length, inverse, largest.value)
