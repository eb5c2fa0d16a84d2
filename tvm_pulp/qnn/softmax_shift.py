"""Softmax of shifts only, whose exponentials are halvings: over a whole row, and over groups as accelerators stream it.

In the forms of ITA a halving is 32 steps of the input, to the nearest; with `octave` every step is one. `group` values
are taken at a time, and the sum of those before is halved, rounding down, whenever a larger maximum comes. `unit` is
what the largest value adds to it, 256 where nothing is said. `largest` is what a probability of one becomes with
`octave`, 255 or 127.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.either import minimum
from tvm_pulp.qnn.loops import Loops, call, i32
from tvm_pulp.qnn.softmax_form import SoftmaxAttributes
from tvm_pulp.qnn.softmax_i import row_maximum
from tvm_pulp.quick_records import quick_record

# A unit of the exponent is 32 input steps; the shift rounds to nearest.
UNIT_BITS = 5
HALF_UNIT = 1 << (UNIT_BITS - 1)
# Shifts beyond this give zero, whatever is shifted.
_MOST_HALVINGS = 31


@quick_record(kw_only=True, slots=False)
class ShiftSoftmaxAttributes(SoftmaxAttributes):
    """Levels belong to the forms of ITA, `largest` to `octave`; `group` to those that stream."""

    forms = ("ita_max", "ita_partial_max", "octave")

    levels: int = 256
    group: int = 0
    unit: int = 256
    largest: int = 255
    dtype: str = "uint8"


def halvings(distance: Any) -> Any:
    """How often a value so far from the largest must be halved in the forms of ITA, in numpy or TIR."""
    return (distance + HALF_UNIT) >> UNIT_BITS


def _octaves(distance: Any) -> Any:
    return minimum(distance, _MOST_HALVINGS)


def _one(attributes: ShiftSoftmaxAttributes) -> int:
    """The result that a probability of one becomes."""
    if attributes.form == "octave":
        return int(attributes.largest)
    return int(attributes.levels // (1 if attributes.form == "ita_max" else 2) - 1)


def _unit(attributes: ShiftSoftmaxAttributes) -> int:
    return attributes.unit


def reference(attributes: ShiftSoftmaxAttributes, x: np.ndarray) -> np.ndarray:
    shifts = _octaves if attributes.form == "octave" else halvings
    group = x.shape[-1] if attributes.form == "ita_max" else attributes.group
    largest = np.full((*x.shape[:-1], 1), -128, np.int64)
    denominator = np.zeros_like(largest)
    for first in range(0, x.shape[-1], group):
        block = x[..., first : first + group]
        new = np.maximum(largest, block.max(-1, keepdims=True))
        terms = np.int64(_unit(attributes)) >> shifts(new - block)
        denominator = (denominator >> shifts(new - largest)) + terms.sum(-1, keepdims=True)
        largest = new
    inverse = _one(attributes) * _unit(attributes) // denominator
    return np.asarray((inverse >> shifts(largest - x)).astype(attributes.dtype))


def _write_row(
    loops: Loops,
    attributes: ShiftSoftmaxAttributes,
    x: Any,
    y: Any,
    row: Any,
    length: int,
    total: Any,
    shift: Callable[[Any], Any],
) -> None:
    """Results of a row; `shift` is how often the result of a value is halved."""
    inverse = loops.bind("inverse", tirx.truncdiv(i32(_one(attributes) * _unit(attributes)), total))
    with loops.loop("i", length) as i:
        loops.store(y, [row, i], (inverse >> shift(i32(x[row, i]))).astype(y.dtype))


def row_loops_max(loops: Loops, attributes: ShiftSoftmaxAttributes, x: Any, y: Any, row: Any, length: int) -> None:
    largest = row_maximum(loops, x, row, length)
    total = loops.sum("total", "i", length, lambda i: i32(256) >> halvings(largest - i32(x[row, i])))
    _write_row(loops, attributes, x, y, row, length, total.value, lambda value: halvings(largest - value))


def row_loops_partial_max(
    loops: Loops, attributes: ShiftSoftmaxAttributes, x: Any, y: Any, row: Any, length: int
) -> None:
    group, unit = attributes.group, i32(_unit(attributes))
    largest, denominator = loops.scalar("largest", -128), loops.scalar("denominator", 0)
    with loops.loop("block", -(-length // group)) as block:
        first = loops.bind("first", block * group)
        count = loops.bind("count", tirx.min(i32(group), length - first))
        best = loops.scalar("best", -128)
        with loops.loop("i", count) as i:
            best.set(tirx.max(best.value, i32(x[row, first + i])))
        shrink = loops.bind("shrink", halvings(tirx.max(best.value, largest.value) - largest.value))
        # Without a new maximum the distance is (0 + 16) >> 5 = 0: nothing shrinks.
        largest.set(tirx.max(largest.value, best.value))
        denominator.set(call("shift_right", denominator.value, shrink))
        with loops.loop("i", count) as i:
            denominator.set(denominator.value + (unit >> halvings(largest.value - i32(x[row, first + i]))))
    _write_row(loops, attributes, x, y, row, length, denominator.value, lambda value: halvings(largest.value - value))


def row_loops_octave(loops: Loops, attributes: ShiftSoftmaxAttributes, x: Any, y: Any, row: Any, length: int) -> None:
    group = attributes.group
    best, denominator = loops.scalar("best", -128), loops.scalar("denominator", 0)
    with loops.loop("block", -(-length // group)) as block:
        first = loops.bind("first", block * group)
        count = loops.bind("count", tirx.min(i32(group), length - first))
        new = loops.scalar("new", best.value)
        with loops.loop("i", count) as i:
            new.set(tirx.max(new.value, i32(x[row, first + i])))
        denominator.set(denominator.value >> _octaves(new.value - best.value))
        best.set(new.value)
        with loops.loop("i", count) as i:
            denominator.set(denominator.value + (i32(256) >> _octaves(best.value - i32(x[row, first + i]))))
    _write_row(loops, attributes, x, y, row, length, denominator.value, lambda value: _octaves(best.value - value))
