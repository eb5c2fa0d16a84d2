"""Parts of tensors and tensors from parts: slices, splits, concatenations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tvm_pulp.frontend.torch_program.elementwise import Operators
from tvm_pulp.frontend.torch_program.graph_builder import GraphBuilder, Value


def _cut(g: GraphBuilder, x: Any, axis: int, begin: int, end: int, step: int = 1) -> str:
    steps = [g.integers(step)] if step != 1 else []
    return g.emit("Slice", x, g.integers(begin), g.integers(end), g.integers(axis), *steps)


def slice_(
    g: GraphBuilder, x: Value, axis: int = 0, begin: int | None = None, end: int | None = None, step: int = 1
) -> str:
    size = x.shape[axis]
    first, last, _ = slice(begin, end).indices(size)
    if (first, last, step) == (0, size, 1):
        return x.name
    return _cut(g, x, axis, first, max(first, last), step)


def narrow(g: GraphBuilder, x: Value, axis: int, begin: int, length: int) -> str:
    first = begin % x.shape[axis]
    return slice_(g, x, axis, first, first + length)


def select(g: GraphBuilder, x: Value, axis: int, place: int) -> str:
    return g.emit("Gather", x, np.asarray(place % x.shape[axis], np.int64), axis=axis)


def unbind(g: GraphBuilder, x: Value, axis: int = 0) -> list[str]:
    return [select(g, x, axis, i) for i in range(x.shape[axis])]


def split(g: GraphBuilder, x: Value, size: Any, axis: int = 0) -> list[str]:
    whole = x.shape[axis]
    sizes = list(size) if not isinstance(size, int) else [min(size, whole - i) for i in range(0, whole, size)]
    if len(sizes) == 1:
        return [x.name]
    return g.emit_many("Split", [x, g.integers(*sizes)], len(sizes), axis=axis)


def chunk(g: GraphBuilder, x: Value, count: int, axis: int = 0) -> list[str]:
    return split(g, x, -(-x.shape[axis] // count), axis)


def cat(g: GraphBuilder, parts: Sequence[Value], axis: int = 0) -> str:
    assert g.result is not None
    # PyTorch lets empty vectors be joined with anything.
    held = [g.cast(p, g.result.dtype) for p in parts if p.shape != (0,)]
    return held[0] if len(held) == 1 else g.emit("Concat", *held, axis=axis)


def stack(g: GraphBuilder, parts: Sequence[Value], axis: int = 0) -> str:
    assert g.result is not None
    place = axis % (parts[0].rank + 1)
    shape = [*parts[0].shape[:place], 1, *parts[0].shape[place:]]
    return g.emit("Concat", *(g.reshape(g.cast(p, g.result.dtype), shape) for p in parts), axis=place)


def flip(g: GraphBuilder, x: Value, axes: Sequence[int]) -> str:
    made: Any = x
    for axis in axes:
        made = g.emit("Gather", made, np.arange(x.shape[axis])[::-1].copy(), axis=axis)
    return made.name if isinstance(made, Value) else str(made)


def roll(g: GraphBuilder, x: Value, shifts: Any, axes: Any = ()) -> str:
    moves = [shifts] if isinstance(shifts, int) else list(shifts)
    places = [axes] if isinstance(axes, int) else list(axes)
    made: Any = x if places else g.reshape(x, [-1])
    sizes = x.shape if places else (int(np.prod(x.shape)),)
    for move, axis in zip(moves, places or [0], strict=True):
        turn = -move % sizes[axis]
        if turn:
            parts = [_cut(g, made, axis, turn, sizes[axis]), _cut(g, made, axis, 0, turn)]
            made = g.emit("Concat", *parts, axis=axis)
    made = made if places else g.reshape(made, x.shape)
    return made.name if isinstance(made, Value) else str(made)


def _triangle(lower: bool) -> Any:
    def write(g: GraphBuilder, x: Value, diagonal: int = 0) -> str:
        ones = np.ones(x.shape[-2:], bool)
        kept = np.tril(ones, diagonal) if lower else np.triu(ones, diagonal)
        return g.emit("Where", kept, x, np.zeros((), x.dtype))

    return write


def slice_scatter(
    g: GraphBuilder,
    x: Value,
    source: Value,
    axis: int = 0,
    begin: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> str:
    """A copy in which a slice is replaced."""
    size = x.shape[axis]
    first, last, _ = slice(begin, end).indices(size)
    if step != 1:
        places = np.full(size, -1)
        places[first:last:step] = np.arange(source.shape[axis])
        joined = g.emit("Concat", x, source, axis=axis)
        order = np.where(places < 0, np.arange(size), size + places)
        return g.emit("Gather", joined, order, axis=axis)
    parts: list[Any] = [_cut(g, x, axis, 0, first)] if first else []
    parts.append(source)
    parts += [_cut(g, x, axis, last, size)] if last < size else []
    return source.name if len(parts) == 1 else g.emit("Concat", *parts, axis=axis)


def select_scatter(g: GraphBuilder, x: Value, source: Value, axis: int, place: int) -> str:
    place %= x.shape[axis]
    axis %= x.rank
    shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    row = Value(g.reshape(source, shape), shape, source.dtype)
    return slice_scatter(g, x, row, axis, place, place + 1)


OPERATORS: Operators = {
    "aten.slice.Tensor": slice_,
    "aten.narrow": narrow,
    "aten.select.int": select,
    "aten.unbind.int": unbind,
    "aten.split.Tensor": split,
    "aten.split.sizes": split,
    "aten.split_with_sizes": split,
    "aten.chunk": chunk,
    "aten.cat": cat,
    "aten.concat": cat,
    "aten.stack": stack,
    "aten.flip": flip,
    "aten.roll": roll,
    "aten.tril": _triangle(True),
    "aten.triu": _triangle(False),
    "aten.slice_scatter": slice_scatter,
    "aten.select_scatter": select_scatter,
}
