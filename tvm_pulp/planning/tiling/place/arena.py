"""Static memory: every buffer gets a fixed offset in one arena, and buffers alive together never overlap.

Several greedy orders are tried, then seeded random exchanges of the best one; the search stops as soon as the arena
is as small as the largest set of buffers alive at once, below which nothing can go.
"""

import random
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from tvm_pulp.planning.tiling.alignment import ALIGNMENT
from tvm_pulp.planning.tiling.place.placer import Buffer, Placer, largest_live_set

_EXCHANGES = 300


@dataclass(frozen=True)
class Arena:
    """Offsets, the arena's size, and the bound no plan can beat."""

    offsets: dict[Hashable, int]
    size: int
    largest_live_set: int
    # What lies in it.
    buffers: tuple[Buffer, ...] = ()


def plan_arena(buffers: Sequence[Buffer], alignment: int = ALIGNMENT) -> Arena:
    """Offsets for all buffers, close to the largest live set. Deterministic."""
    placer = Placer([b for b in buffers if b.size > 0], alignment)
    bound = largest_live_set(placer.buffers)
    best = min((p for order in placer.orders if (p := placer.place(order))), key=lambda p: p.size)
    source = random.Random(0)
    for _ in range(_EXCHANGES if len(placer.buffers) > 2 else 0):
        if best.size <= bound:
            break
        order = list(best.order)
        i, j = source.randrange(len(order)), source.randrange(len(order))
        order.insert(j, order.pop(i))
        best = placer.place(order, below=best.size) or best
    offsets = {b.key: offset for b, offset in zip(best.order, best.offsets, strict=True)}
    return Arena(offsets, best.size, bound, tuple(placer.buffers))
