"""Pass: where in L1 everything lies.

Expects sizes and lifetimes of all blocks (`lay_out`, `keep_alive`). Blocks alive together get bytes of their own;
what a running job is expected to use still is left alone where there is room:

    load(buffer("x0.3", 0), tensor("x", 64), 64)       becomes
    dma_load(2, 2, L1(464), AT("x", 64), 64)           or L2(64), where the tensor lies in the arena

Guarantees addresses. Where blocks find no room within the budget, decisions are weakened and the passes run again
(`fit_schedule`).
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from tvm_pulp.planning.tiling.alignment import L1_ALIGNMENT, aligned
from tvm_pulp.planning.tiling.place.placer import Buffer, Placement, Placer
from tvm_pulp.planning.tiling.schedule.program import Block, Program

_PROMOTIONS = 12
# Room behind every block that a debug build watches: nothing may ever write there.
_GUARD_BYTES: ContextVar[int] = ContextVar("guard_bytes", default=0)


@contextmanager
def guarded(size: int) -> Iterator[None]:
    """While this is open, blocks are placed with `size` bytes behind each; 0 is none."""
    token = _GUARD_BYTES.set(size)
    try:
        yield
    finally:
        _GUARD_BYTES.reset(token)


def place(program: Program, budget: int) -> int:
    """The bytes that the program takes with every block at its place; more than the budget where there is no room."""
    return place_blocks(program.blocks, budget)


def place_blocks(blocks: Sequence[Block], budget: int) -> int:
    """Give every block an offset so that blocks alive together do not overlap; stops at the first placement that fits.

    Returns the bytes needed; more than the budget means that none of the orders tried fits. Deterministic.
    """
    guard = _GUARD_BYTES.get()

    def size(block: Block) -> int:
        return aligned(block.bytes, L1_ALIGNMENT) + guard if guard and block.bytes else block.bytes

    # What stays through one layer and what stays through the next may lie at opposite ends.
    buffers = [Buffer(b, size(b), b.first, b.last, b.expected_until, bool(b.layer % 2)) for b in blocks]
    placer = Placer(buffers, L1_ALIGNMENT)
    best: Placement | None = None
    for placement in _placements(placer, budget):
        best = placement if best is None or placement.size < best.size else best
        if best.size <= budget:
            break
    assert best is not None
    if best.size <= budget and any(b.until > b.last for b in buffers):
        best = _beside_jobs(placer, best, budget)
    for buffer, offset in zip(best.order, best.offsets, strict=True):
        assert isinstance(buffer.key, Block)
        buffer.key.offset = offset
    return best.size


def _orders(placer: Placer) -> tuple[list[Buffer], ...]:
    """The placer's orders, early and long-lived ones sooner: tiles come and go."""
    large, lasting, early, long_lived = placer.orders
    return large, early, long_lived, lasting


def _beside_jobs(placer: Placer, known: Placement, budget: int) -> Placement:
    """A placement that leaves bytes alone while a job is expected to use them: all of them, those it can, or none."""
    for order in _orders(placer):
        if placement := placer.place(order, None, budget + 1, keep_used=True):
            return placement
    for order, ceiling in ((known.order, known.ceiling), *((o, None) for o in _orders(placer))):
        if placement := placer.place(order, ceiling, budget + 1, keep_used=True, budget=budget):
            return placement
    return known


def _placements(placer: Placer, budget: int) -> Iterable[Placement]:
    orders, least = _orders(placer), sys.maxsize
    for order in orders:
        if placement := placer.place(order, None, least):
            least = placement.size
            yield placement
    # With odd layers at the other end the room between is one piece.
    last = None
    for order in orders:
        if placement := placer.place(order, budget, last.size if last else sys.maxsize):
            last = placement
            yield placement
    # Buffers that ended too high come first in the next order; some orders need several such changes.
    for _ in range(_PROMOTIONS):
        assert last is not None
        ends = zip(last.order, last.offsets, strict=True)
        high = {b for b, offset in ends if offset + b.size > budget}
        promoted = [*(b for b in last.order if b in high), *(b for b in last.order if b not in high)]
        if promoted == last.order:
            break
        last = placer.place(promoted, last.ceiling)
        assert last is not None
        yield last
