"""Bytes that a statement touches: runs or lines of one address space."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Region:
    """`bytes` in lines of `line`, `stride` apart, from `start` on. Spaces: L1, L2 (the arena), or a tensor's name."""

    space: str
    start: int
    bytes: int
    line: int = 0
    stride: int = 0

    @cached_property
    def end(self) -> int:
        if self.line == 0 or self.bytes <= self.line:
            return self.start + self.bytes
        return self.start + (self.bytes // self.line - 1) * self.stride + self.line

    def overlaps(self, other: Region) -> bool:
        """Whether a byte belongs to both; may say yes wrongly only for lines of different strides."""
        if self.space != other.space or self.bytes == 0 or other.bytes == 0:
            return False
        if self.start >= other.end or other.start >= self.end:
            return False
        if self.line and other.line and self.stride == other.stride:
            # Both repeat with the same stride: compare the columns.
            shift = (other.start - self.start) % self.stride
            return shift < self.line or shift + other.line > self.stride
        return True


@dataclass(frozen=True)
class Access:
    """What a statement reads and writes."""

    reads: tuple[Region, ...] = ()
    writes: tuple[Region, ...] = ()

    def conflicts(self, other: Access) -> bool:
        """Whether the order of two statements matters."""
        mine = any(a.overlaps(b) for a in self.writes for b in (*other.reads, *other.writes))
        return mine or any(a.overlaps(b) for a in self.reads for b in other.writes)
