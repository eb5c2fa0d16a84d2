"""Numpy's broadcasting rule, on shapes and on TIR indices."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.loops import i32


def broadcast_shape(*shapes: Sequence[int]) -> tuple[int, ...]:
    """Common shape of several operands."""
    return tuple(int(d) for d in np.broadcast_shapes(*(tuple(s) for s in shapes)))


def broadcast_index(shape: Sequence[int], indices: Sequence[Any]) -> list[Any]:
    """Indices at which an operand of `shape` is read for the result's `indices`."""
    tail = indices[len(indices) - len(shape) :]
    return [i32(0) if size == 1 else index for size, index in zip(shape, tail, strict=True)] or [i32(0)]


def unravel(place: Any, shape: Sequence[int]) -> list[Any]:
    """Indices of a flat position in a row-major tensor."""
    indices: list[Any] = []
    for axis in reversed(range(len(shape))):
        if shape[axis] <= 1:  # an empty axis has no position; its loop never runs
            indices.append(i32(0))
        elif all(size == 1 for size in shape[:axis]):
            indices.append(place)
        else:
            indices.append(tirx.truncmod(place, i32(shape[axis])))
            place = tirx.truncdiv(place, i32(shape[axis]))
    return indices[::-1]
