"""The share of the DMA's time that is hidden: measured from the timeline of a run."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tvm_pulp.sim.activity import Cover

# enum trace_kind of c_runtime/iss/trace.h
_CORE_ACTIVE, _DMA, _PERIPHERAL = 0, 2, 3


@dataclass(frozen=True)
class DmaTime:
    """Cycles in which the cluster's DMA moves data, and those of them in which everything else stands still."""

    busy_cycles: int
    stall_cycles: int


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
        np.diff(Cover.of(begins[chosen], finals[chosen]).until(edges)) for chosen in (moving, working, either)
    )
    return [DmaTime(int(b), int(s)) for b, s in zip(busy, both - work, strict=True)]
