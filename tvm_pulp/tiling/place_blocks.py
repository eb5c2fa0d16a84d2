"""L1 offsets for the blocks of a schedule."""

from __future__ import annotations

from collections.abc import Sequence

from tvm_pulp.tiling.arena import Buffer, aligned, largest_live_set
from tvm_pulp.tiling.schedule import Block

L1_ALIGNMENT = 16
_PROMOTIONS = 12


def live_set(blocks: Sequence[Block]) -> int:
    """Most bytes alive at one position: no placement needs less."""
    return largest_live_set(Buffer(b, aligned(b.bytes, L1_ALIGNMENT), b.first, b.last) for b in blocks)


def place_blocks(blocks: Sequence[Block], budget: int) -> int:
    """Give every block an offset so that blocks alive together do not overlap; stops at the first placement that fits.

    Returns the bytes needed; more than the budget means that none of the orders tried fits. Deterministic.
    """
    orders = [
        sorted(blocks, key=lambda b: (-b.bytes, b.first, b.last)),
        sorted(blocks, key=lambda b: (b.first, -b.bytes)),
        sorted(blocks, key=lambda b: (b.first - b.last, -b.bytes)),
        sorted(blocks, key=lambda b: (-b.bytes * (b.last - b.first + 1), b.first)),
    ]
    best: tuple[int, list[int], list[Block]] | None = None
    for order in orders:
        best = _better(best, order)
        if best[0] <= budget:
            return _take(best)
    assert best is not None
    # Blocks that ended too high come first in the next order; some orders need several such changes.
    size, offsets, order = best
    for _ in range(_PROMOTIONS):
        high = {id(b) for b, offset in zip(order, offsets, strict=True) if offset + b.bytes > budget}
        order = [*(b for b in order if id(b) in high), *(b for b in order if id(b) not in high)]
        size, offsets = _place(order)
        if size < best[0]:
            best = (size, offsets, order)
        if size <= budget:
            break
    return _take(best)


def _better(best: tuple[int, list[int], list[Block]] | None, order: list[Block]) -> tuple[int, list[int], list[Block]]:
    size, offsets = _place(order)
    return (size, offsets, order) if best is None or size < best[0] else best


def _take(best: tuple[int, list[int], list[Block]]) -> int:
    for block, offset in zip(best[2], best[1], strict=True):
        block.offset = offset
    return best[0]


def _place(order: Sequence[Block]) -> tuple[int, list[int]]:
    """Lowest free offset for each block in turn."""
    # Blocks by the step in which they live: most live for a step or two.
    by_step: dict[int, list[tuple[int, int, int, int]]] = {}
    offsets, size = [], 0
    for block in order:
        steps = range(block.first // 3, block.last // 3 + 1)
        rivals = {r for s in steps for r in by_step.get(s, ()) if r[2] <= block.last and block.first <= r[3]}
        offset = 0
        for start, end, _, _ in sorted(rivals):
            if start - offset >= block.bytes:
                break
            offset = max(offset, end)
        end = aligned(offset + block.bytes, L1_ALIGNMENT)
        if block.bytes:
            for s in steps:
                by_step.setdefault(s, []).append((offset, end, block.first, block.last))
        offsets.append(offset)
        size = max(size, offset + block.bytes)
    return size, offsets
