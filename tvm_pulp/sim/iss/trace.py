"""A run as a timeline: one track per core, DMA direction, accelerator and L3 direction; layers, tiles and stalls."""

from collections.abc import Sequence

import numpy as np

from tvm_pulp.sim.iss.calls import cause_names, function_name
from tvm_pulp.sim.iss.library import ACTIVE, ASLEEP, DMA, L3, MARK, PERIPHERAL, TILE
from tvm_pulp.sim.iss.machine import Machine
from tvm_pulp.sim.iss.trace_files import TraceFile

_WAITS = ("", "event", "event", "dispatch", "mutex", "interrupt", "barrier")
_ISSUE = 0
_DMA_NAMES = ("L1 to outside", "outside to L1")
_L3_NAMES = ("L3 to L2", "L2 to L3")


class TraceWriter:
    """A consumer of the simulator's stream that draws it. `layers` are the names that the program's marks count."""

    def __init__(self, machine: Machine, file: TraceFile, layers: Sequence[str] = ()) -> None:
        self._machine, self._file, self._layers = machine, file, layers
        self._groups: dict[str, int] = {}
        self._tracks: dict[tuple[int, int], int] = {}
        self._counters: dict[tuple[int, int], int] = {}
        self._causes = cause_names()
        self._counted: dict[int, list[int]] = {}
        self._ends: dict[int, int] = {}
        self._layer: tuple[int, int] | None = None
        self._tile: dict[int, int] = {}

    def consume(self, records: np.ndarray) -> None:
        """Draw a batch."""
        spans, causes_of = records["span"].tolist(), records["causes"].tolist()
        for (start, end, kind, track, amount), causes in zip(spans, causes_of, strict=True):
            if kind <= ASLEEP:
                self._core(kind, track, start, end, amount, causes)
            elif kind == TILE:
                self._draw_tile(track, start, end, amount)
            elif kind == MARK:
                self._mark(amount, start)
            elif kind <= L3:
                self._transfer(kind, track, start, end, amount)

    def close(self, cycle: int) -> None:
        """The run has ended."""
        self._end_layer(cycle)
        self._file.close()

    def discard(self) -> None:
        """Nothing more will come; only what was closed stays."""
        self._file.discard()

    def _group(self, name: str) -> int:
        if name not in self._groups:
            self._groups[name] = self._file.track(name)
        return self._groups[name]

    def _track(self, kind: int, number: int, group: str, name: str) -> int:
        known = self._tracks.get((kind, number))
        if known is None:
            known = self._tracks[kind, number] = self._file.track(name, self._group(group))
        return known

    def _core(self, kind: int, core: int, start: int, end: int, wait: int, causes: Sequence[int]) -> None:
        track = self._track(ACTIVE, core, "cores", self._machine.soc.core_name(core))
        name = "active" if kind == ACTIVE else f"waits for {_WAITS[wait]}" if wait else "waits"
        self._file.span(track, name, start, end)
        before = self._counted.get(core)
        for number, cycles in enumerate(causes):
            if number == _ISSUE or cycles == (before[number] if before else 0):
                continue
            if (core, number) not in self._counters:
                text = f"{self._machine.soc.core_name(core)}: {self._causes[number]}"
                self._counters[core, number] = self._file.track(text, self._group("stalls"), counter=True)
            self._file.count(self._counters[core, number], end, cycles)
        self._counted[core] = list(causes)

    def _transfer(self, kind: int, number: int, start: int, end: int, amount: int) -> None:
        if kind == PERIPHERAL:
            name = list(self._machine.soc.engines)[number]
            track, text, argument = self._track(kind, number, "accelerators", name), f"{name} job", "macs"
        else:
            group, names = ("dma", _DMA_NAMES) if kind == DMA else ("l3", _L3_NAMES)
            track, text, argument = self._track(kind, number, group, names[number]), f"{amount} bytes", "bytes"
        start = max(start, self._ends.get(track, 0))  # the next may begin in the cycle in which one ends
        if start < end:
            self._file.span(track, text, start, end, {argument: amount})
            self._ends[track] = end

    def _draw_tile(self, core: int, start: int, end: int, function: int) -> None:
        number = self._tile[core] = self._tile.get(core, -1) + 1
        track = self._track(TILE, core, "tiles", self._machine.soc.core_name(core))
        kernel = function_name(self._machine, function)
        layer = f"{self._layers[self._layer[0]]}: " if self._layer is not None else ""
        self._file.span(track, f"{layer}{kernel}", start, end, {"tile": number})

    def _mark(self, number: int, cycle: int) -> None:
        self._end_layer(cycle)
        self._tile.clear()
        if number < len(self._layers):
            self._layer = (number, cycle)

    def _end_layer(self, cycle: int) -> None:
        if self._layer is None:
            return
        number, start = self._layer
        self._layer = None
        if start < cycle:
            track = self._track(MARK, 0, "network", "layers")
            self._file.span(track, self._layers[number], start, cycle, {"layer": number})
