"""L1 offsets for the blocks of a schedule."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tvm_pulp.planning.tiling.alignment import L1_ALIGNMENT, aligned
from tvm_pulp.planning.tiling.place.guard_bytes import guard_bytes
from tvm_pulp.planning.tiling.schedule.schedule import Block

_PROMOTIONS = 12
# Start and end of a block's bytes, its first position, the last until which it had better stay, the last that it needs.
_Placed = tuple[int, int, int, int, int]


@dataclass(frozen=True)
class _Placement:
    """Offsets of blocks in an order. `ceiling`: blocks of odd layers were placed downwards from there."""

    order: list[Block]
    offsets: list[int]
    size: int
    ceiling: int | None


def place_blocks(blocks: Sequence[Block], budget: int) -> int:
    """Give every block an offset so that blocks alive together do not overlap; stops at the first placement that fits.

    Returns the bytes needed; more than the budget means that none of the orders tried fits. Deterministic.
    """
    best: _Placement | None = None
    for placement in _placements(blocks, budget):
        best = placement if best is None or placement.size < best.size else best
        if best.size <= budget:
            break
    assert best is not None
    if best.size <= budget and any(b.better_until > b.last for b in blocks):
        best = _patient_placement(blocks, best, budget)
    for block, offset in zip(best.order, best.offsets, strict=True):
        block.offset = offset
    return best.size


def _patient_placement(blocks: Sequence[Block], known: _Placement, budget: int) -> _Placement:
    """A placement that leaves bytes alone while a job is expected to use them: all of them, those it can, or none."""
    for order in _orders(blocks):
        if placement := _place(order, None, budget + 1, patient=True):
            return placement
    for order, ceiling in ((known.order, known.ceiling), *((o, None) for o in _orders(blocks))):
        if placement := _place(order, ceiling, budget + 1, patient=True, budget=budget):
            return placement
    return known


def _orders(blocks: Sequence[Block]) -> list[list[Block]]:
    return [
        sorted(blocks, key=lambda b: (-b.bytes, b.first, b.last)),
        sorted(blocks, key=lambda b: (b.first, -b.bytes)),
        sorted(blocks, key=lambda b: (b.first - b.last, -b.bytes)),
        sorted(blocks, key=lambda b: (-b.bytes * (b.last - b.first + 1), b.first)),
    ]


def _placements(blocks: Sequence[Block], budget: int) -> Iterable[_Placement]:
    orders, least = _orders(blocks), sys.maxsize
    for order in orders:
        if placement := _place(order, None, least):
            least = placement.size
            yield placement
    # What stays through one layer and what stays through the next at opposite ends: the room between is one piece.
    last = None
    for order in orders:
        if placement := _place(order, budget, last.size if last else sys.maxsize):
            last = placement
            yield placement
    # Blocks that ended too high come first in the next order; some orders need several such changes.
    for _ in range(_PROMOTIONS):
        assert last is not None
        ends = zip(last.order, last.offsets, strict=True)
        high = {id(b) for b, offset in ends if offset + b.bytes > budget}
        order = [*(b for b in last.order if id(b) in high), *(b for b in last.order if id(b) not in high)]
        if order == last.order:
            break
        last = _place(order, last.ceiling)
        assert last is not None
        yield last


def _place(
    order: list[Block],
    ceiling: int | None,
    least: int = sys.maxsize,
    *,
    patient: bool = False,
    budget: int | None = None,
) -> _Placement | None:
    """Lowest free offset for each block in turn; below a ceiling the highest for blocks of odd layers.

    None as soon as it is clear that the placement is no smaller than one of `least` bytes. `patient`: bytes that a job
    is expected to use are left alone, with a `budget` only as far as the block ends below it.
    """
    # Blocks by the step in which they live: most live for a step or two.
    by_step: dict[int, list[_Placed]] = {}
    offsets, size, guard = [], 0, guard_bytes()
    for block in order:
        needed = aligned(block.bytes, L1_ALIGNMENT) + guard if guard and block.bytes else block.bytes
        last = max(block.last, block.better_until) if patient else block.last
        steps = range(block.first // 3, last // 3 + 1)
        near = {r for s in steps for r in by_step.get(s, ()) if r[2] <= last and block.first <= r[3]}
        offset = _offset(needed, near, ceiling if block.layer % 2 else None)
        if budget is not None and offset + needed > budget:
            rivals = {r for r in near if r[2] <= block.last and block.first <= r[4]}
            offset = _offset(needed, rivals, ceiling if block.layer % 2 else None)
        end = aligned(offset + needed, L1_ALIGNMENT)
        if block.bytes:
            for s in steps:
                by_step.setdefault(s, []).append((offset, end, block.first, last, block.last))
        offsets.append(offset)
        size = max(size, offset + needed)
        if size >= least:
            return None
    return _Placement(order, offsets, size, ceiling)


def _offset(size: int, rivals: Iterable[_Placed], ceiling: int | None) -> int:
    """The highest free offset below a ceiling; without one, or where there is no room, the lowest."""
    offset = _highest(size, rivals, ceiling) if ceiling is not None else -1
    return offset if offset >= 0 else _lowest(size, rivals)


def _lowest(size: int, rivals: Iterable[_Placed]) -> int:
    offset = 0
    for start, end, *_ in sorted(rivals):
        if start - offset >= size:
            break
        offset = max(offset, end)
    return offset


def _highest(size: int, rivals: Iterable[_Placed], ceiling: int) -> int:
    """Negative where there is no room."""
    top = ceiling
    for start, end, *_ in sorted(rivals, key=lambda r: -r[1]):
        if top - end >= size and (top - size) // L1_ALIGNMENT * L1_ALIGNMENT >= end:
            break
        top = min(top, start)
    return (top - size) // L1_ALIGNMENT * L1_ALIGNMENT
