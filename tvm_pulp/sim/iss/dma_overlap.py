"""How much of the DMA's time is hidden: measured from the timeline of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

# enum trace_kind of c_runtime/iss/trace.h
_CORE_ACTIVE, _DMA, _PERIPHERAL = 0, 2, 3


@dataclass(frozen=True)
class DmaTime:
    """Cycles in which the cluster's DMA moves data, and those of them in which everything else stands still."""

    busy_cycles: int
    stall_cycles: int


@dataclass(frozen=True)
class _Cover:
    """Cycles that spans cover, each counted once: disjoint intervals in order."""

    starts: np.ndarray
    ends: np.ndarray
    before: np.ndarray  # covered in front of each interval

    @staticmethod
    def of(starts: np.ndarray, ends: np.ndarray) -> _Cover:
        order = np.argsort(starts, kind="stable")
        starts, reach = starts[order], np.maximum.accumulate(ends[order]) if len(order) else ends
        first = np.ones(len(starts), bool)
        first[1:] = starts[1:] > reach[:-1]
        last = np.append(np.flatnonzero(first)[1:] - 1, len(starts) - 1) if len(starts) else np.zeros(0, int)
        begins, finals = starts[first], reach[last]
        lengths = finals - begins
        return _Cover(begins, finals, np.concatenate([[0], np.cumsum(lengths)[:-1]]) if len(lengths) else lengths)

    def until(self, cycles: np.ndarray) -> np.ndarray:
        """Covered cycles before each of the given ones."""
        if not len(self.starts):
            return np.zeros(len(cycles), np.int64)
        at = np.searchsorted(self.starts, cycles, side="right") - 1
        inside = np.clip(np.minimum(cycles, self.ends[at]) - self.starts[at], 0, None)
        return np.where(at < 0, 0, self.before[at] + inside)


def dma_times(spans: np.ndarray, cores: int, boundaries: Sequence[int]) -> list[DmaTime]:
    """Times between neighbouring boundaries (cluster cycles). `spans`: the simulator's, as an array.

    A cycle is a stall when data moves while no core of the cluster is awake and no accelerator works: whatever comes
    next waits for the transfer.
    """
    begins, finals = spans["start"].astype(np.int64), spans["end"].astype(np.int64)
    moving = spans["kind"] == _DMA
    working = ((spans["kind"] == _CORE_ACTIVE) & (spans["track"] < cores)) | (spans["kind"] == _PERIPHERAL)
    either = moving | working
    edges = np.asarray(boundaries, np.int64)
    busy, work, both = (
        np.diff(_Cover.of(begins[chosen], finals[chosen]).until(edges)) for chosen in (moving, working, either)
    )
    return [DmaTime(int(b), int(s)) for b, s in zip(busy, both - work, strict=True)]
