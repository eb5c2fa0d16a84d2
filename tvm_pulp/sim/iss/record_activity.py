"""Work and waits of every core, from the simulator's stream, and the time of the DMA, from its timeline."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tvm_pulp.sim.activity import Activity, CoreSpans, Cover, Spans
from tvm_pulp.sim.iss.calls import cause_names
from tvm_pulp.sim.iss.library import ACTIVE, ASLEEP, DMA, L3, PERIPHERAL
from tvm_pulp.sim.iss.machine import Machine


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
    moving = spans["kind"] == DMA
    working = ((spans["kind"] == ACTIVE) & (spans["track"] < cores)) | (spans["kind"] == PERIPHERAL)
    either = moving | working
    edges = np.asarray(boundaries, np.int64)
    busy, work, both = (
        np.diff(Cover.of(begins[chosen], finals[chosen]).until(edges)) for chosen in (moving, working, either)
    )
    return [DmaTime(int(b), int(s)) for b, s in zip(busy, both - work, strict=True)]


# Causes of the simulator that stall a core while it is awake; the others are part of computing.
_STALLS = {
    "l1 conflict": "l1_conflict",
    "external access": "outside_access",
    "instruction cache": "instruction_cache",
    "event wait": "barrier",
}


class ActivityRecorder:
    """A consumer of the stream for one run of a machine; its memory has a limit."""

    most: ClassVar[int] = 1 << 20
    """Spans of cores that are kept: some hundreds in a million cycles."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._batches: list[np.ndarray] = []
        self._kept = 0

    def consume(self, records: np.ndarray) -> None:
        """Keep what cores did."""
        self._kept += len(records)
        if self._kept > self.most:
            self._batches.clear()
        else:
            self._batches.append(records[records["span"]["kind"] <= ASLEEP])

    def activity(self, boundaries: Sequence[int], cores: int) -> Activity | None:
        """Everything between the first and the last boundary; `cores` take part. None where that is too much."""
        timeline = self._machine.timeline()
        if timeline is None or self._kept > self.most:
            return None
        engines = list(self._machine.soc.engines)
        cluster = self._machine.soc.cluster
        records = np.concatenate(self._batches)
        # The core behind those that compute is part of the cluster where it gives the commands.
        commanders = [cluster.cores] if cluster.kind.dma_core else []
        return Activity(
            boundaries=list(boundaries),
            cores=[self._core(records, core, core < cores) for core in (*range(cores), *commanders)],
            accelerators={name: _spans(timeline, PERIPHERAL, number) for number, name in enumerate(engines)},
            loads=_spans(timeline, DMA, 1),
            stores=_spans(timeline, DMA, 0),
            from_l3=_spans(timeline, L3, 0),
            to_l3=_spans(timeline, L3, 1),
        )

    def _core(self, records: np.ndarray, core: int, computes: bool) -> CoreSpans:
        own = records[records["span"]["track"] == core]
        spans, counted = own["span"], own["causes"].astype(np.int64)
        # Causes are counted since the core started.
        added = np.diff(counted, axis=0, prepend=np.zeros((1, counted.shape[1]), np.int64))
        names = cause_names()
        awake = spans["kind"] == ACTIVE
        return CoreSpans(
            name=self._machine.soc.core_name(core),
            starts=spans["start"].astype(np.int64),
            ends=spans["end"].astype(np.int64),
            awake=awake,
            held=~awake & (added[:, names.index("external access")] > 0),
            stalls={ours: added[:, names.index(theirs)] for theirs, ours in _STALLS.items()},
            computes=computes,
            group=self._machine.soc.core_group(core),
        )


def _spans(timeline: np.ndarray, kind: int, track: int) -> Spans:
    own = timeline[(timeline["kind"] == kind) & (timeline["track"] == track)]
    own = own[np.argsort(own["start"], kind="stable")]
    return Spans(*(own[field].astype(np.int64) for field in ("start", "end", "amount")))
