"""Expected cycles: the described program executed on a clock for the cores, the DMA's two directions and accelerators.

Constants are those of the simulator: DMA start-up and bursts from the platform's description, instructions counted in
the executor and the drivers, cache lines of their code likewise.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from tvm_pulp.estimate.code_cache import CodeCache
from tvm_pulp.tiling.cost.dma_cost import move_cycles

Record = dict[str, Any]

# Cycles of a step besides its function: reading the record, the call, the loop.
STEP_CYCLES = 42
BARRIER_CYCLES = 10
# A group that is over already; waking up from the event of one that is not.
WAIT_CYCLES = 18
WAKE_CYCLES = 22
# Commands of an agent: finding them, allocating a group, one transfer.
ISSUE_CYCLES = 16
BEGIN_CYCLES = 16
COMMAND_CYCLES = 30
# From a command to its first beat.
START_CYCLES = 4
# By how much the DMA is slower while the cores work: they take L1 banks from it.
CONTENTION = 0.35
# Commands of one core that the DMA takes before it lets the core wait.
CORE_QUEUE = 2
# Programming a job; waking up from its event.
SUBMIT_CYCLES = 160
# Jobs that an engine holds: one it works on, one that waits.
JOB_QUEUE = 2
JOB_WAKE_CYCLES = 40
# L3: set-up of a transfer and its bytes; registers of its controller are 23 cycles away.
L3_SETUP_CYCLES = 80
L3_CYCLES_PER_BYTE = 0.694
L3_COMMAND_CYCLES = 150
L3_POLL_CYCLES = 30
# Entering the network and leaving it: reading pointers, the first command.
ENTRY_CYCLES = 150
# Code of the executor and drivers: cycles of fetching it from L2.
CODE = {"step": 204, "issue": 85, "transfer": 85, "wait": 70, "submit": 320, "job_wait": 100, "entry": 400}


@dataclass
class _Moving:
    """A transfer that may still be under way."""

    start: int
    end: int
    group: Any
    span: int  # its place in the list of spans


@dataclass(frozen=True)
class BusySpan:
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
    spans: list[BusySpan] = field(default_factory=list)
    stall_cycles: int = 0  # of the cores, waiting for the DMA
    fetch_cycles: int = 0  # of the cores, waiting for code


def estimate_plan(plan: Record) -> Estimate:
    """Run the program of a described plan on paper: the second inference, with the code that the first left behind."""
    cache = CodeCache()
    _Clock(plan, cache).run()
    return _Clock(plan, cache).run()


class _Clock:
    def __init__(self, plan: Record, cache: CodeCache) -> None:
        self._plan, self._cache = plan, cache
        self._now = ENTRY_CYCLES
        self._free: dict[str, int] = {"load": 0, "store": 0}
        self._done: dict[Any, int] = {}
        self._open: dict[int, Any] = {}
        self._moving: dict[str, list[_Moving]] = {"load": [], "store": []}
        self._queues: dict[Any, list[int]] = {}
        self._result = Estimate()
        self._starts: dict[int, int] = {}

    def run(self) -> Estimate:
        self._code("entry")
        for step in self._plan["program"]:
            self._synchronise(step)
            self._code("step")
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

    def _code(self, name: str, cold_cycles: int | None = None) -> None:
        late = self._cache.fetch(name, CODE[name] if cold_cycles is None else cold_cycles)
        self._result.fetch_cycles += late
        self._now += late

    def _synchronise(self, step: Record) -> None:
        for wait in step["waits"]:
            if "l3" in wait:
                self._now = max(self._now, self._free.get("l3", 0)) + L3_POLL_CYCLES
                continue
            job = "ticket" in wait
            key = ("ticket", wait["ticket"]) if job else (wait["agent"], wait["group"])
            self._code("job_wait" if job else "wait")
            done = self._done.pop(key, 0)
            late = max(0, done - self._now)
            if not job:
                self._result.stall_cycles += late
            self._now += late + (JOB_WAKE_CYCLES if job else WAKE_CYCLES if late else WAIT_CYCLES)
        if step["barrier"]:
            self._now += BARRIER_CYCLES

    def _step(self, step: Record) -> None:
        busy: dict[int, int] = {}
        kernels = []
        if step["actions"]:
            for action in step["actions"]:
                if action["do"] in ("kernel", "job"):
                    self._starts.setdefault(action["layer"], self._now - STEP_CYCLES)
        for action in step["actions"]:
            kind = action["do"]
            if kind == "kernel":
                kernels.append(action)
                continue
            agent = action.get("agent", 0)
            if agent not in busy:
                self._code("issue")
                busy[agent] = ISSUE_CYCLES
            if kind == "begin":
                self._open[agent] = (agent, action["group"])
                busy[agent] += BEGIN_CYCLES
            elif kind == "fetch":
                busy[agent] += L3_COMMAND_CYCLES
                start = max(self._now + busy[agent], self._free.get("l3", 0))
                size = action["writes"][0]["bytes"]
                self._free["l3"] = start + L3_SETUP_CYCLES + round(size * L3_CYCLES_PER_BYTE)
                self._add("l3", action, start, self._free["l3"])
            elif kind == "job":
                self._code("submit")
                # The engine takes a job while it works on another one, not more.
                queue = self._queues.setdefault(action["engine"], [])
                if len(queue) >= JOB_QUEUE:
                    busy[agent] = max(busy[agent], queue[-JOB_QUEUE] - self._now)
                busy[agent] += SUBMIT_CYCLES
                start = max(self._now + busy[agent], self._free.get(action["engine"], 0))
                end = start + action["cycles"]
                self._free[action["engine"]] = end
                self._done["ticket", action["ticket"]] = end
                queue.append(end)
                self._add(action["engine"], action, start, end)
            else:
                self._code("transfer")
                issued = self._now + busy[agent] + COMMAND_CYCLES
                queue = self._queues.setdefault(agent, [])
                if len(queue) >= CORE_QUEUE:
                    # The core stands still until the DMA takes another command from it.
                    issued = max(issued, sorted(queue)[-CORE_QUEUE])
                queue.append(self._transfer(action, issued))
                del queue[:-8]
                busy[agent] = issued - self._now
        self._now += max(busy.values(), default=0)
        for action in kernels:
            start = self._now
            if "code" in action:
                self._code(action["code"], action["cold_cycles"])
            self._now += action["cycles"]
            self._add("cores", action, start, self._now)
            self._slow_down(start, self._now)

    def _transfer(self, action: Record, issued: int) -> int:
        outward = action["do"] == "store"
        access = (action["writes"] if outward else action["reads"] or action["writes"])[0]
        size = access["bytes"]
        start = max(issued + START_CYCLES, self._free[action["do"]])
        end = start + move_cycles(size, access.get("line", size), outward=outward)
        self._free[action["do"]] = end
        key = self._open[action["agent"]]
        self._done[key] = max(end, self._done.get(key, 0))
        self._moving[action["do"]].append(_Moving(start, end, key, len(self._result.spans)))
        self._add(action["do"], action, start, end)
        return end

    def _slow_down(self, begin: int, end: int) -> None:
        """Transfers beside a kernel take longer, and those behind them begin later."""
        for direction, moving in self._moving.items():
            moving[:] = [m for m in moving if m.end > begin]
            late = 0.0
            for m in moving:
                start, over = m.start + late, m.end + late
                late += CONTENTION * max(0.0, min(over, end) - max(start, begin))
                m.start, m.end = round(start), round(m.end + late)
                if m.group in self._done:
                    self._done[m.group] = max(self._done[m.group], m.end)
                self._free[direction] = max(self._free[direction], m.end)
                self._result.spans[m.span] = replace(self._result.spans[m.span], start=m.start, end=m.end)

    def _add(self, resource: str, action: Record, start: int, end: int) -> None:
        name = action.get("op") or action.get("engine") or action["do"]
        self._result.spans.append(BusySpan(resource, str(name), action["layer"], start, end))
