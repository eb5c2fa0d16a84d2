"""Reshapes, permutations and broadcasts: the same values, other axes."""

import math
from collections.abc import Sequence
from typing import Any

from tvm_pulp.frontend.onnx_graph_builder import GraphBuilder, GraphValue, numbers
from tvm_pulp.frontend.torch_program.elementwise import Operators, overloads
from tvm_pulp.frontend.torch_program.products import transposed


def reshaped(g: GraphBuilder, x: GraphValue, *_: Any) -> str:
    """To the shape that tracing found, however the program says it."""
    return x.name if g.keeps(x) else g.reshape(x, g.result.shape)


def transpose(g: GraphBuilder, x: GraphValue, first: int = 0, second: int = 1) -> str:
    if x.rank < 2:
        return x.name
    order = list(range(x.rank))
    order[first % x.rank], order[second % x.rank] = second % x.rank, first % x.rank
    return transposed(g, x, tuple(order))


def movedim(g: GraphBuilder, x: GraphValue, source: Any, destination: Any) -> str:
    sources, places = ([v % x.rank for v in numbers(a)] for a in (source, destination))
    order = [a for a in range(x.rank) if a not in sources]
    for place, axis in sorted(zip(places, sources, strict=True)):
        order.insert(place, axis)
    return transposed(g, x, tuple(order))


def expand(g: GraphBuilder, x: GraphValue, *_: Any) -> str:
    return x.name if g.keeps(x) else g.emit("Expand", x, g.integers(*g.result.shape))


def repeat(g: GraphBuilder, x: GraphValue, times: Sequence[int]) -> str:
    fuller = max(x.rank, len(times))
    source = x.name if fuller == x.rank else g.reshape(x, [*[1] * (fuller - x.rank), *x.shape])
    return g.emit("Tile", source, g.integers(*[1] * (fuller - len(times)), *times))


def repeat_interleave(g: GraphBuilder, x: GraphValue, times: int, axis: int | None = None, *_: Any) -> str:
    """Every entry several times in a row."""
    shape, place = ([*x.shape], axis % x.rank) if axis is not None else ([math.prod(x.shape)], 0)
    lone = g.reshape(x, [*shape[: place + 1], 1, *shape[place + 1 :]])
    wide = g.emit("Expand", lone, g.integers(*shape[: place + 1], times, *shape[place + 1 :]))
    return g.reshape(wide, g.result.shape)


def pixel_unshuffle(g: GraphBuilder, x: GraphValue, factor: int) -> str:
    *outer, channels, height, width = x.shape
    cut = g.reshape(x, [*outer, channels, height // factor, factor, width // factor, factor])
    n = len(outer)
    return g.reshape(g.permuted(cut, *range(n), n, n + 2, n + 4, n + 1, n + 3), g.result.shape)


def channel_shuffle(g: GraphBuilder, x: GraphValue, groups: int) -> str:
    batch, channels, *rest = x.shape
    cut = g.reshape(x, [batch, groups, channels // groups, *rest])
    return g.reshape(g.permuted(cut, 0, 2, 1, *range(3, 3 + len(rest))), x.shape)


OPERATORS: Operators = {
    **{
        f"aten.{name}": reshaped
        for name in (
            *("view", "reshape", "_unsafe_view", "view_copy", "flatten.using_ints", "unflatten.int", "squeeze"),
            *("squeeze.dim", "squeeze.dims", "unsqueeze", "view_as", "reshape_as", "squeeze_copy.dim"),
        )
    },
    "aten.permute": lambda g, x, order: transposed(g, x, tuple(a % x.rank for a in order)),
    "aten.transpose.int": transpose,
    "aten.t": transpose,
    "aten.numpy_T": lambda g, x: transposed(g, x, tuple(reversed(range(x.rank)))),
    "aten.mT": lambda g, x: transpose(g, x, -2, -1),
    "aten.adjoint": lambda g, x: transpose(g, x, -2, -1),
    **overloads(movedim, "movedim", "int", "intlist"),
    **{f"aten.{name}": expand for name in ("expand", "expand_as", "broadcast_to")},
    "aten.repeat": repeat,
    "aten.tile": repeat,
    "aten.repeat_interleave.self_int": repeat_interleave,
    "aten.pixel_shuffle": lambda g, x, factor: g.emit("DepthToSpace", x, blocksize=factor, mode="CRD"),
    "aten.pixel_unshuffle": pixel_unshuffle,
    "aten.channel_shuffle": channel_shuffle,
    "aten.native_channel_shuffle": channel_shuffle,
}
