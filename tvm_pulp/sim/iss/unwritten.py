"""Reads of L1 and L2 bytes that nobody wrote, in words: who, where, which tensor, in which layer."""

import bisect
import ctypes
from collections.abc import Sequence

import numpy as np

from tvm_pulp.planning.program.actions import Begin, JobAction, actions_of
from tvm_pulp.planning.program.plan_record import PlanJson
from tvm_pulp.sim.iss.library import MARK, UnwrittenRead, library
from tvm_pulp.sim.iss.machine import Machine

_KEPT = 256
_ACCELERATOR = -2
_AGENTS = {-1: "the DMA", _ACCELERATOR: "an accelerator", -3: "the transfer to L3"}


class UnwrittenReads:
    """Watches the marks of a run, so that a report can name layers; the plan names tensors in L1."""

    def __init__(self, machine: Machine, layers: Sequence[str], plan: PlanJson | None) -> None:
        self._machine, self._layers, self._plan = machine, layers, plan
        self._marks: list[tuple[int, int]] = []

    def consume(self, records: np.ndarray) -> None:
        """Keep the marks of a batch of the simulator's stream."""
        spans = records["span"]
        self._marks += [(int(span["start"]), int(span["amount"])) for span in spans[spans["kind"] == MARK]]

    def sentences(self) -> list[str]:
        """One for each of the first reads; the first says how many there are."""
        reads = ctypes.POINTER(UnwrittenRead)()
        count = library().iss_unwritten_reads(self._machine.handle, ctypes.byref(reads))
        ignored = self._behind_operands()
        return [
            self._describe(read)
            for read in reads[: min(count, _KEPT)]
            if read.agent != _ACCELERATOR
            or not any(r.start <= read.address and read.address + read.bytes <= r.stop for r in ignored)
        ]

    def _behind_operands(self) -> list[range]:
        """Places behind operands that jobs read in whole beats or tiles, by the plan: that gives no result."""
        arena = self._machine.elf.symbols.get("tvm_pulp_l1_arena")
        if self._plan is None or arena is None:
            return []
        operands = (operand for job in actions_of(self._plan.program, JobAction) for operand in job.reads)
        read = ((arena + o.start, o.bytes, o.reach or 0) for o in operands)
        return [range(start + size, start + reach) for start, size, reach in read if reach > size]

    def _describe(self, read: UnwrittenRead) -> str:
        who = _AGENTS.get(read.agent) or self._machine.soc.core_name(read.agent)
        layer = self._layer(read.cycle)
        place = self._machine.elf.nearest(read.pc) if read.agent >= 0 else None
        parts = [f"cycle {read.cycle}: {who} reads {read.bytes} byte(s) at 0x{read.address:08x} that nobody wrote"]
        tensor = self._tensor(read.address, layer)
        parts += [f"in tensor '{tensor}'"] if tensor else []
        parts += [f"in layer '{layer}'"] if layer else []
        parts += [f"at {place}"] if place else []
        return ", ".join(parts)

    def _layer(self, cycle: int) -> str | None:
        at = bisect.bisect_right(self._marks, (cycle, 1 << 32)) - 1
        number = self._marks[at][1] if at >= 0 else len(self._layers)
        return self._layers[number] if number < len(self._layers) else None

    def _tensor(self, address: int, layer: str | None) -> str | None:
        """A block of L1 that lives in the layer's steps, or a variable of the program."""
        symbols = self._machine.elf.symbols
        if self._plan is not None and "tvm_pulp_l1_arena" in symbols:
            offset = address - symbols["tvm_pulp_l1_arena"]
            blocks = [b for b in self._plan.blocks if b.offset <= offset < b.offset + b.bytes]
            steps = self._steps(layer)
            living = [b for b in blocks if any(b.alive[0] <= step <= b.alive[1] for step in steps)]
            if blocks:
                return (living or blocks)[0].name
        starts = sorted((at, name) for name, at in symbols.items() if not name.startswith("tvm_pulp_"))
        found = bisect.bisect_right(starts, (address, "\x7f")) - 1
        if found < 0 or not 0 <= address - starts[found][0] < self._machine.soc.memory.l2.size:
            return None
        return starts[found][1]

    def _steps(self, layer: str | None) -> list[int]:
        """Positions of the steps that do something for a layer."""
        if self._plan is None or layer is None:
            return []
        number = self._layers.index(layer)
        return [
            step.position
            for step in self._plan.program
            if step.position is not None and any(not isinstance(a, Begin) and a.layer == number for a in step.actions)
        ]
