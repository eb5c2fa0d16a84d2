"""Static memory: every buffer gets a fixed offset in one arena, and buffers alive together never overlap.

Several greedy orders are tried, then seeded random exchanges of the best one; the search stops as soon as the arena
is as small as the largest set of buffers alive at once, below which nothing can go.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from tvm_pulp.planning.tiling.alignment import ALIGNMENT, aligned

_EXCHANGES = 300


@dataclass(frozen=True)
class Buffer:
    """A demand for `size` bytes from step `first` to step `last`, both included."""

    key: Hashable
    size: int
    first: int
    last: int


@dataclass(frozen=True)
class Arena:
    """Offsets, the arena's size, and the bound no plan can beat."""

    offsets: dict[Hashable, int]
    size: int
    largest_live_set: int


def largest_live_set(buffers: Iterable[Buffer]) -> int:
    """Most bytes alive at one step."""
    change: dict[int, int] = {}
    for b in buffers:
        change[b.first] = change.get(b.first, 0) + b.size
        change[b.last + 1] = change.get(b.last + 1, 0) - b.size
    peak = level = 0
    for step in sorted(change):
        level += change[step]
        peak = max(peak, level)
    return peak


def _place(order: Sequence[Buffer], alignment: int, limit: int | None = None) -> tuple[dict[Hashable, int], int]:
    """Lowest free offset for each buffer in turn; gives up beyond `limit`."""
    placed: list[tuple[int, int, Buffer]] = []
    offsets: dict[Hashable, int] = {}
    size = 0
    for buffer in order:
        offset = 0
        rivals = sorted((o, e) for o, e, b in placed if b.first <= buffer.last and buffer.first <= b.last)
        for start, end in rivals:
            if start - offset >= buffer.size:
                break
            offset = max(offset, aligned(end, alignment))
        offsets[buffer.key] = offset
        placed.append((offset, offset + buffer.size, buffer))
        size = max(size, offset + buffer.size)
        if limit is not None and size >= limit:
            break
    return offsets, size


def plan_arena(buffers: Sequence[Buffer], alignment: int = ALIGNMENT) -> Arena:
    """Offsets for all buffers, close to the largest live set. Deterministic."""
    buffers = [b for b in buffers if b.size > 0]
    bound = largest_live_set(buffers)
    orders = [
        sorted(buffers, key=lambda b: (-b.size, b.first, b.last)),
        sorted(buffers, key=lambda b: (-b.size * (b.last - b.first + 1), b.first)),
        sorted(buffers, key=lambda b: (b.first, -b.size)),
        sorted(buffers, key=lambda b: (b.first - b.last, -b.size)),
    ]
    best_order, (best, size) = min(((o, _place(o, alignment)) for o in orders), key=lambda entry: entry[1][1])
    source = random.Random(0)
    for _ in range(_EXCHANGES if len(buffers) > 2 else 0):
        if size <= bound:
            break
        order = list(best_order)
        i, j = source.randrange(len(order)), source.randrange(len(order))
        order.insert(j, order.pop(i))
        offsets, candidate = _place(order, alignment, limit=size)
        if candidate < size:
            best_order, best, size = order, offsets, candidate
    return Arena(best, size, bound)
