"""Loops over the elements of a row of floats, several at a time."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.loops import Loops, Scalar, call

# Elements that one iteration handles.
TOGETHER = 4
# No finite number is smaller.
_LOWEST = float(np.finfo(np.float32).min)


def each(loops: Loops, length: int, body: Callable[[Any], None]) -> None:
    """`body` for every position of a row."""
    groups = length // TOGETHER
    if groups:
        with loops.loop("group", groups) as group:
            for k in range(TOGETHER):
                body(group * TOGETHER + k if k else group * TOGETHER)
    for position in range(groups * TOGETHER, length):
        body(position)


def total(loops: Loops, name: str, length: int, value: Callable[[Any], Any], start: Any = 0) -> Any:
    """Sum of a value over a row, in four interleaved sums."""
    lanes = [loops.scalar(name, start, "float32") for _ in range(min(TOGETHER, length))]
    _over_lanes(loops, length, lanes, lambda lane, at: lane + value(at))
    return _combined(loops, name, lanes, lambda a, b: a + b)


def mean_of(loops: Loops, sum_of: Any, length: int, may_be_infinite: bool = False) -> Any:
    """A sum divided by a constant, rounded as a division is: the product with the reciprocal, and what it leaves.

    An infinite sum leaves nothing that is a number; a finite one in its place keeps the mean infinite. Norms, which
    subtract the mean from every value, are not numbers either way.
    """
    count, part = tirx.const(length, "float32"), tirx.const(1 / length, "float32")
    near = loops.bind("near", sum_of * part)
    rest = call("fnma", near, count, sum_of, dtype="float32")
    if may_be_infinite:
        rest = call("fmax", rest, tirx.const(_LOWEST, "float32"), dtype="float32")
    return loops.bind("mean", call("fma", rest, part, near, dtype="float32"))


def extreme(loops: Loops, name: str, length: int, value: Callable[[Any], Any], function: str) -> Any:
    """Largest (`fmax`) or smallest (`fmin`) value over a row."""
    lanes = [loops.scalar(name, value(k), "float32") for k in range(min(TOGETHER, length))]
    _over_lanes(loops, length, lanes, lambda lane, at: call(function, lane, value(at), dtype="float32"))
    return _combined(loops, name, lanes, lambda a, b: call(function, a, b, dtype="float32"))


def _over_lanes(loops: Loops, length: int, lanes: Sequence[Scalar], step: Callable[[Any, Any], Any]) -> None:
    groups = length // TOGETHER
    if groups:
        with loops.loop("group", groups) as group:
            for k, lane in enumerate(lanes):
                lane.set(step(lane.value, group * TOGETHER + k if k else group * TOGETHER))
    for k, position in enumerate(range(groups * TOGETHER, length)):
        lanes[k].set(step(lanes[k].value, position))


def _combined(loops: Loops, name: str, lanes: Sequence[Scalar], join: Callable[[Any, Any], Any]) -> Any:
    values = [lane.value for lane in lanes]
    while len(values) > 1:
        values = [
            loops.bind(name, join(*values[i : i + 2])) if i + 1 < len(values) else values[i]
            for i in range(0, len(values), 2)
        ]
    return loops.bind(name, values[0])
