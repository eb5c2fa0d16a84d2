"""Rows by number: embeddings, advanced indexing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tvm_pulp.errors import UserError
from tvm_pulp.frontend.torch_program.elementwise import Operators
from tvm_pulp.frontend.torch_program.graph_builder import GraphBuilder, Value


def index(g: GraphBuilder, x: Value, indices: Sequence[Value | None]) -> str:
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


def _stacked(g: GraphBuilder, given: Sequence[Value], shape: tuple[int, ...]) -> Any:
    arrays = [g.array(i) for i in given]
    known = [a for a in arrays if a is not None]
    if len(known) == len(given):
        return np.stack([np.broadcast_to(a, shape) for a in known], axis=-1).astype(np.int64)
    wide = [g.emit("Expand", g.cast(i, "int64"), g.integers(*shape)) for i in given]
    return g.emit("Concat", *(g.reshape(w, [*shape, 1]) for w in wide), axis=-1)


OPERATORS: Operators = {
    "aten.embedding": lambda g, weight, indices, *_: g.emit("Gather", weight, indices, axis=0),
    "aten.index_select": lambda g, x, axis, indices: g.emit("Gather", x, indices, axis=axis),
    "aten.gather": lambda g, x, axis, indices, *_: g.emit("GatherElements", x, indices, axis=axis),
    "aten.index.Tensor": index,
}
