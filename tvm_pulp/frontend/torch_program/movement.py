"""Parts of tensors and tensors from parts: slices, splits, concatenations, padding, rows by number."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tvm_pulp.errors import UserError
from tvm_pulp.frontend.onnx_graph_builder import GraphBuilder, GraphValue, numbers
from tvm_pulp.frontend.torch_program.elementwise import Operators, overloads


def slice_(g: GraphBuilder, x: GraphValue, axis: int, begin: int | None, end: int | None, step: int = 1) -> str:
    size = x.shape[axis]
    first, last, _ = slice(begin, end).indices(size)
    if (first, last, step) == (0, size, 1):
        return x.name
    if step == 1:
        return g.cut(x, axis, first, max(first, last))
    return g.emit("Slice", x, *(g.integers(v) for v in (first, max(first, last), axis, step)))


def narrow(g: GraphBuilder, x: GraphValue, axis: int, begin: int, length: int) -> str:
    first = begin % x.shape[axis]
    return slice_(g, x, axis, first, first + length)


def select(g: GraphBuilder, x: GraphValue, axis: int, place: int) -> str:
    return g.emit("Gather", x, np.asarray(place % x.shape[axis], np.int64), axis=axis)


def split(g: GraphBuilder, x: GraphValue, size: Any, axis: int) -> list[str]:
    whole = x.shape[axis]
    sizes = list(size) if not isinstance(size, int) else [min(size, whole - i) for i in range(0, whole, size)]
    if len(sizes) == 1:
        return [x.name]
    return g.emit_many("Split", [x, g.integers(*sizes)], len(sizes), axis=axis)


def cat(g: GraphBuilder, parts: Sequence[GraphValue], axis: int) -> str:
    # PyTorch lets empty vectors be joined with anything.
    return g.joined(g.typed(*(p for p in parts if p.shape != (0,))), axis)


def stack(g: GraphBuilder, parts: Sequence[GraphValue], axis: int) -> str:
    place = axis % (parts[0].rank + 1)
    shape = [*parts[0].shape[:place], 1, *parts[0].shape[place:]]
    return g.emit("Concat", *(g.reshape(name, shape) for name in g.typed(*parts)), axis=place)


def roll(g: GraphBuilder, x: GraphValue, shifts: Any, axes: Any) -> str:
    places, sizes = numbers(axes), x.shape
    if not places:
        sizes = (math.prod(x.shape),)
    made = x.name if places else g.reshape(x, [-1])
    for move, axis in zip(numbers(shifts), places or [0], strict=True):
        turn = -move % sizes[axis]
        if turn:
            made = g.joined([g.cut(made, axis, turn, sizes[axis]), g.cut(made, axis, 0, turn)], axis)
    return made if places else g.reshape(made, x.shape)


def _triangle(side: Callable[..., np.ndarray]) -> Callable[..., str]:
    return lambda g, x, diagonal: g.emit("Where", side(np.ones(x.shape[-2:], bool), diagonal), x, np.zeros((), x.dtype))


def slice_scatter(
    g: GraphBuilder, x: GraphValue, source: GraphValue, axis: int, begin: int | None, end: int | None, step: int = 1
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
    return g.with_part(x, source.name, axis, size, first, last)


def select_scatter(g: GraphBuilder, x: GraphValue, source: GraphValue, axis: int, place: int) -> str:
    place %= x.shape[axis]
    axis %= x.rank
    shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    row = GraphValue(g.reshape(source, shape), shape, source.dtype)
    return slice_scatter(g, x, row, axis, place, place + 1)


_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def pad(g: GraphBuilder, x: GraphValue, amounts: Sequence[int], mode: str, value: Any = None) -> str:
    """PyTorch counts axes from the last one, before and after each; negative amounts cut off."""
    unpadded = [0] * (x.rank - len(amounts) // 2)
    stated = [*unpadded, *amounts[::2][::-1], *unpadded, *amounts[1::2][::-1]]
    source, pads = g.within(x.name, x.shape, stated), [max(0, p) for p in stated]
    if not any(pads):
        return source
    fill = [np.asarray(value or 0, x.dtype)] if mode == "constant" else []
    return g.emit("Pad", source, g.integers(*pads), *fill, mode=_MODES[mode])


def index(g: GraphBuilder, x: GraphValue, indices: Sequence[GraphValue | None]) -> str:
    """x[i, j, ...]: one axis by Gather, neighbouring ones by GatherND."""
    places = [axis for axis, i in enumerate(indices) if i is not None]
    given = [i for i in indices if i is not None]
    if any(i.dtype == "bool" for i in given):
        raise UserError("a tensor is indexed by a mask, which gives a result of unknown size: use torch.where")
    if len(places) == 1:
        return g.emit("Gather", x, given[0], axis=places[0])
    if places != list(range(places[0], places[0] + len(places))):
        raise UserError(f"a tensor is indexed along the axes {places}, which are not neighbours: index one by one")
    first, count = places[0], len(places)
    shape = np.broadcast_shapes(*(i.shape for i in given))
    if not first:
        return g.emit("GatherND", x, _stacked(g, given, shape))
    moved = g.permuted(x, *places, *range(first), *range(first + count, x.rank))
    made, rank = g.emit("GatherND", moved, _stacked(g, given, shape)), len(shape)
    order = [*range(rank, rank + first), *range(rank), *range(rank + first, rank + x.rank - count)]
    return g.permuted(made, *order)


def _stacked(g: GraphBuilder, given: Sequence[GraphValue], shape: tuple[int, ...]) -> Any:
    arrays = [g.array(i) for i in given]
    known = [a for a in arrays if a is not None]
    if len(known) == len(given):
        return np.stack([np.broadcast_to(a, shape) for a in known], axis=-1).astype(np.int64)
    wide = [g.emit("Expand", g.cast(i, "int64"), g.integers(*shape)) for i in given]
    return g.emit("Concat", *(g.reshape(w, [*shape, 1]) for w in wide), axis=-1)


OPERATORS: Operators = {
    "aten.slice.Tensor": slice_,
    "aten.narrow": narrow,
    "aten.select.int": select,
    "aten.unbind.int": lambda g, x, axis: [select(g, x, axis, i) for i in range(x.shape[axis])],
    **overloads(split, "split", "Tensor", "sizes"),
    "aten.split_with_sizes": split,
    "aten.chunk": lambda g, x, count, axis: split(g, x, -(-x.shape[axis] // count), axis),
    "aten.cat": cat,
    "aten.concat": cat,
    "aten.stack": stack,
    "aten.flip": lambda g, x, axes: g.flipped(x.name, {axis: x.shape[axis] for axis in axes}),
    "aten.roll": roll,
    "aten.tril": _triangle(np.tril),
    "aten.triu": _triangle(np.triu),
    "aten.slice_scatter": slice_scatter,
    "aten.select_scatter": select_scatter,
    "aten.pad": pad,
    "aten.constant_pad_nd": lambda g, x, amounts, value: pad(g, x, amounts, "constant", value),
    **{f"aten.reflection_pad{n}d": lambda g, x, amounts: pad(g, x, amounts, "reflect") for n in (1, 2, 3)},
    **{f"aten.replication_pad{n}d": lambda g, x, amounts: pad(g, x, amounts, "replicate") for n in (1, 2, 3)},
    "aten.embedding": lambda g, weight, indices, *_: g.emit("Gather", weight, indices, axis=0),
    "aten.index_select": lambda g, x, axis, indices: g.emit("Gather", x, indices, axis=axis),
    "aten.gather": lambda g, x, axis, indices, *_: g.emit("GatherElements", x, indices, axis=axis),
    "aten.index.Tensor": index,
}
