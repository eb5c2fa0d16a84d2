"""The placer: one buffer after the other gets the lowest free offset, so that buffers alive together do not overlap."""

import sys
from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from tvm_pulp.planning.tiling.alignment import ALIGNMENT, aligned
from tvm_pulp.quick_records import quick_record

# Start and end of the bytes of a buffer that has its place, its first and its last position.
_Placed = tuple[int, int, int, int]


@quick_record(eq=False)
class Buffer:
    """A demand for `size` bytes from position `first` to position `last`, both included.

    `until`: a later position until which somebody is expected to use them still, so that who takes them waits.
    `downward`: placed from the ceiling on, where there is one.
    """

    key: Hashable
    size: int
    first: int
    last: int
    until: int = -1
    downward: bool = False


@dataclass(frozen=True)
class Placement:
    """Offsets of buffers in the order in which they were placed, and the bytes that all take."""

    order: list[Buffer]
    offsets: list[int]
    size: int
    ceiling: int | None = None


def live_bytes(alive: Iterable[tuple[int, int, int]]) -> Iterator[tuple[int, int]]:
    """Positions at which the bytes alive change, in order, with the bytes alive from there on.

    `alive`: of every demand its size, first and last position.
    """
    change: dict[int, int] = {}
    for size, first, last in alive:
        change[first] = change.get(first, 0) + size
        change[last + 1] = change.get(last + 1, 0) - size
    level = 0
    for position in sorted(change):
        level += change[position]
        yield position, level


def largest_live_set(buffers: Iterable[Buffer]) -> int:
    """Most bytes alive at one position: nothing can be placed in less."""
    return max((level for _, level in live_bytes((b.size, b.first, b.last) for b in buffers)), default=0)


class Placer:
    """Places buffers in the orders that it is asked to try."""

    def __init__(self, buffers: Sequence[Buffer], alignment: int = ALIGNMENT) -> None:
        self.buffers, self._alignment = buffers, alignment
        # Two buffers meet where one of them begins: only first positions count.
        starts = sorted({b.first for b in buffers})
        self._count = len(starts)
        self._spans = {
            b: (
                bisect_left(starts, b.first),
                bisect_right(starts, b.last),
                bisect_right(starts, max(b.last, b.until)),
            )
            for b in buffers
        }

    @cached_property
    def orders(self) -> tuple[list[Buffer], ...]:
        """Orders worth trying: large ones first, those that take much for long, early ones, long-lived ones."""
        return (
            sorted(self.buffers, key=lambda b: (-b.size, b.first, b.last)),
            sorted(self.buffers, key=lambda b: (-b.size * (b.last - b.first + 1), b.first)),
            sorted(self.buffers, key=lambda b: (b.first, -b.size)),
            sorted(self.buffers, key=lambda b: (b.first - b.last, -b.size)),
        )

    def place(
        self,
        order: list[Buffer],
        ceiling: int | None = None,
        below: int = sys.maxsize,
        *,
        keep_used: bool = False,
        budget: int | None = None,
    ) -> Placement | None:
        """Lowest free offset for each buffer in turn; below a ceiling the highest for those that go downward.

        None as soon as it is clear that all take no less than `below` bytes. `keep_used`: bytes are left to whoever is
        expected to use them still, with a `budget` only as far as the buffer ends below it.
        """
        alive: list[list[_Placed]] = [[] for _ in range(self._count)]
        begun: list[list[_Placed]] = [[] for _ in range(self._count)]
        offsets, size = [], 0
        for b in order:
            first, last, until = self._spans[b]
            end = until if keep_used else last
            rivals = [*alive[first], *(r for later in begun[first + 1 : end] for r in later)]
            top = ceiling if b.downward else None
            offset = self._offset(b.size, rivals, top)
            if budget is not None and offset + b.size > budget:
                rivals = [r for r in rivals if r[2] <= b.last and b.first <= r[3]]
                offset = self._offset(b.size, rivals, top)
            if b.size:
                placed = (offset, aligned(offset + b.size, self._alignment), b.first, b.last)
                begun[first].append(placed)
                for now in alive[first:end]:
                    now.append(placed)
            offsets.append(offset)
            size = max(size, offset + b.size)
            if size >= below:
                return None
        return Placement(order, offsets, size, ceiling)

    def _offset(self, size: int, rivals: list[_Placed], ceiling: int | None) -> int:
        """The highest free offset below a ceiling; without one, or where there is no room, the lowest."""
        if ceiling is not None and (offset := self._highest(size, rivals, ceiling)) >= 0:
            return offset
        offset = 0
        for start, end, *_ in sorted(rivals):
            if start - offset >= size:
                break
            if end > offset:
                offset = end
        return offset

    def _highest(self, size: int, rivals: list[_Placed], ceiling: int) -> int:
        """Negative where there is no room."""
        top = ceiling
        for start, end, *_ in sorted(rivals, key=lambda r: -r[1]):
            if top - end >= size and (top - size) // self._alignment * self._alignment >= end:
                break
            top = min(top, start)
        return (top - size) // self._alignment * self._alignment
