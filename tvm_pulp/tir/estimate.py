"""Expected cycles: the described program executed on a clock for the cores, the DMA's two directions and accelerators.

Constants are those of the simulator: DMA start-up and bursts from the platform's description, the others measured.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tvm_pulp.tiling.dma_cost import BURST, BYTES_PER_CYCLE, START_UP

Record = dict[str, Any]

# Cycles of a step besides its function: reading the record, the call, the loop.
STEP_CYCLES = 26
BARRIER_CYCLES = 8
WAIT_CYCLES = 14
COMMAND_CYCLES = 14
# Commands of one core that the DMA takes before it lets the core wait.
CORE_QUEUE = 2
# Programming a job; waking up from its event.
SUBMIT_CYCLES = 120
WAKE_CYCLES = 20
# L3: set-up of a transfer and one byte a cycle; registers of its controller are 23 cycles away.
L3_SETUP_CYCLES = 80
L3_COMMAND_CYCLES = 150
L3_POLL_CYCLES = 30
# Entering the network: reading pointers, the first command.
ENTRY_CYCLES = 150


@dataclass(frozen=True)
class Span:
    """Something that a resource was busy with."""

    resource: str  # cores, load, store, or an engine
    name: str
    layer: int
    start: int
    end: int


@dataclass
class Estimate:
    """Cycles of the network and of each layer, and when every resource is busy."""

    cycles: int = 0
    layer_cycles: list[int] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    stall_cycles: int = 0  # of the cores, waiting for the DMA


def estimate(plan: Record) -> Estimate:
    """Run the program of a described plan on paper."""
    return _Clock(plan).run()


class _Clock:
    def __init__(self, plan: Record) -> None:
        self._plan = plan
        self._now = ENTRY_CYCLES
        self._free: dict[str, int] = {"load": 0, "store": 0}
        self._done: dict[Any, int] = {}
        self._open: dict[int, Any] = {}
        self._queues: dict[int, list[int]] = {}
        self._result = Estimate()
        self._starts: dict[int, int] = {}

    def run(self) -> Estimate:
        for step in self._plan["program"]:
            self._synchronise(step)
            self._now += STEP_CYCLES
            self._step(step)
        self._now = max([self._now, *self._done.values()])
        count = len(self._plan["layers"])
        starts = [self._starts.get(i, self._now) for i in range(count)]
        if starts:
            starts[0] = 0
        ends = [*starts[1:], self._now]
        self._result.layer_cycles = [max(0, end - start) for start, end in zip(starts, ends, strict=True)]
        self._result.cycles = self._now
        return self._result

    def _synchronise(self, step: Record) -> None:
        before = self._now
        for wait in step["waits"]:
            if "l3" in wait:
                self._now = max(self._now, self._free.get("l3", 0)) + L3_POLL_CYCLES
                continue
            key = ("ticket", wait["ticket"]) if "ticket" in wait else (wait["agent"], wait["group"])
            done = self._done.pop(key, 0)
            late = max(0, done - self._now)
            if "ticket" not in wait:
                self._result.stall_cycles += late
            self._now += late
        if step["waits"]:
            self._now += WAKE_CYCLES if self._now > before else WAIT_CYCLES
        if step["barrier"]:
            self._now += BARRIER_CYCLES

    def _step(self, step: Record) -> None:
        busy: dict[int, int] = {}
        kernels = []
        for action in step["actions"]:
            kind = action["do"]
            if kind in ("kernel", "job"):
                self._starts.setdefault(action["layer"], self._now)
            if kind == "begin":
                self._open[action["agent"]] = (action["agent"], action["group"])
                busy[action["agent"]] = busy.get(action["agent"], 0) + 2
            elif kind == "fetch":
                busy[0] = busy.get(0, 0) + L3_COMMAND_CYCLES
                start = max(self._now + busy[0], self._free.get("l3", 0))
                self._free["l3"] = start + L3_SETUP_CYCLES + action["writes"][0]["bytes"]
                self._add("l3", action, start, self._free["l3"])
            elif kind == "kernel":
                kernels.append(action)
            elif kind == "job":
                busy[0] = busy.get(0, 0) + SUBMIT_CYCLES
                start = max(self._now + busy[0], self._free.get(action["engine"], 0))
                end = start + action["cycles"]
                self._free[action["engine"]] = end
                self._done["ticket", action["ticket"]] = end
                self._add(action["engine"], action, start, end)
            else:
                agent = action["agent"]
                issued = self._now + busy.get(agent, 0) + COMMAND_CYCLES
                queue = self._queues.setdefault(agent, [])
                if len(queue) >= CORE_QUEUE:
                    # The core stands still until the DMA takes another command from it.
                    issued = max(issued, sorted(queue)[-CORE_QUEUE])
                queue.append(self._transfer(action, issued))
                busy[agent] = issued - self._now
        self._now += max(busy.values(), default=0)
        for action in kernels:
            self._add("cores", action, self._now, self._now + action["cycles"])
            self._now += action["cycles"]

    def _transfer(self, action: Record, issued: int) -> int:
        outward = action["do"] == "store"
        access = (action["writes"] if outward else action["reads"] or action["writes"])[0]
        size = access["bytes"]
        lines = size // access["line"] if "line" in access else 1
        bursts = max(lines, -(-size // BURST)) if outward else 0
        start = max(issued + START_UP, self._free[action["do"]])
        end = start + -(-size // BYTES_PER_CYCLE) + bursts
        self._free[action["do"]] = end
        key = self._open[action["agent"]]
        self._done[key] = max(end, self._done.get(key, 0))
        self._add(action["do"], action, start, end)
        return end

    def _add(self, resource: str, action: Record, start: int, end: int) -> None:
        name = action.get("op") or action.get("engine") or action["do"]
        self._result.spans.append(Span(resource, str(name), action["layer"], start, end))
