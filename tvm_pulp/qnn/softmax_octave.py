"""Shift-only softmax whose logits step in octaves: streaming over groups, as a transformer accelerator computes it.

A step of the input halves the exponential. `largest` is what a probability of one becomes, 255 or 127; `group` values
are taken at a time, and the sum of those before is halved, rounding down, whenever a larger maximum comes.
"""

from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.loops import Loops, i32
from tvm_pulp.qnn.tensor_spec import Attributes

# Shifts beyond this give zero, whatever is shifted.
_MOST_HALVINGS = 31


def reference(attributes: Attributes, x: np.ndarray) -> np.ndarray:
    best = np.full((*x.shape[:-1], 1), -128, np.int64)
    denominator = np.zeros_like(best)
    for first in range(0, x.shape[-1], attributes["group"]):
        block = x[..., first : first + attributes["group"]]
        new = np.maximum(best, block.max(-1, keepdims=True))
        terms = np.int64(256) >> np.minimum(new - block, _MOST_HALVINGS)
        denominator = (denominator >> np.minimum(new - best, _MOST_HALVINGS)) + terms.sum(-1, keepdims=True)
        best = new
    inverse = attributes["largest"] * 256 // denominator
    return (inverse >> np.minimum(best - x, _MOST_HALVINGS)).astype(attributes["dtype"])


def row_loops(loops: Loops, attributes: Attributes, x: Any, y: Any, row: Any, length: int) -> None:
    group = attributes["group"]
    best, denominator = loops.scalar("best", -128), loops.scalar("denominator", 0)

    def halved(value: Any, times: Any) -> Any:
        return value >> tirx.min(times, i32(_MOST_HALVINGS))

    with loops.loop("block", -(-length // group)) as block:
        first = loops.bind("first", block * group)
        count = loops.bind("count", tirx.min(i32(group), length - first))
        new = loops.scalar("new", best.value)
        with loops.loop("i", count) as i:
            new.set(tirx.max(new.value, i32(x[row, first + i])))
        denominator.set(halved(denominator.value, new.value - best.value))
        best.set(new.value)
        with loops.loop("i", count) as i:
            denominator.set(denominator.value + halved(i32(256), best.value - i32(x[row, first + i])))
    inverse = loops.bind("inverse", tirx.truncdiv(i32(attributes["largest"] * 256), denominator.value))
    with loops.loop("i", length) as i:
        shifted = halved(inverse, best.value - i32(x[row, i]))
        loops.store(y, [row, i], shifted.astype(attributes["dtype"]))
