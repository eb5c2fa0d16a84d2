"""Part of the verifier: transfers, jobs and kernels that may be under way together never touch the same bytes.

A transfer or job is over for the agent that waited for it, and for all cores after the next barrier; a kernel is over
after the next barrier. Jobs of one engine end in order, and submitting one returns when all but as many as the engine's
queue holds are over; jobs of different engines run side by side.
"""

from dataclasses import dataclass
from typing import Any

from tvm_pulp.planning.check.places import extent
from tvm_pulp.planning.program.actions import (
    Access,
    Action,
    Begin,
    Fetch,
    Job,
    Kernel,
    Step,
    Wait,
    WaitForJob,
    WaitForL3,
    read_by,
)

# Numbers that an agent can give its groups of transfers, and that jobs can have.
_GROUPS = 7
_TICKETS = 8
_ALL = "all cores"


@dataclass(frozen=True, slots=True)
class _Touch:
    """An access and its extent: an engine's reads behind an operand do not matter, its writes there do to others."""

    access: Access
    writes: bool
    start: int
    end: int

    @staticmethod
    def of(access: Access, *, writes: bool) -> "_Touch":
        start, end = extent(access)
        return _Touch(access, writes, start, end if writes or access.line is not None else start + access.bytes)

    def meets(self, other: "_Touch") -> bool:
        """Tell if two accesses share a byte that one of them writes."""
        a, b = self.access, other.access
        if a.space != b.space or not (self.writes or other.writes):
            return False
        if self.start >= other.end or other.start >= self.end:
            return False
        if a.line is not None and b.line is not None and a.stride is not None and a.stride == b.stride:
            columns = {(a.start + i - b.start) % a.stride for i in (0, a.line - 1)}
            inside = any(c < b.line for c in columns)
            return inside or (b.start - a.start) % a.stride < a.line
        return True


@dataclass(eq=False, slots=True)
class _Running:
    what: str
    agent: int | str
    touches: list[_Touch]
    key: Any
    engine: str = ""
    known: bool = False  # to its agent


def _key(wait: Wait) -> Any:
    if isinstance(wait, WaitForL3):
        return ("l3",)
    return ("ticket", wait.ticket) if isinstance(wait, WaitForJob) else ("group", wait.agent, wait.group)


class Races:
    """Whatever may be under way. `counters`: those of the DMA, one for every group of transfers."""

    def __init__(self, counters: int) -> None:
        self._counters = counters
        self._running: list[_Running] = []
        self._open: dict[int, tuple[int, int]] = {}

    def synchronise(self, where: str, step: Step) -> list[str]:
        faults = []
        for wait in step.waits:
            key = _key(wait)
            found = [r for r in self._running if r.key == key and not r.known]
            if not found:
                faults.append(f"{where}: a wait for {key} which is not under way")
            for running in found:
                running.known = True
            if isinstance(wait, WaitForJob) and found:
                self._end(found[-1].engine, before=found[-1])
        if step.barrier:
            self._running = [r for r in self._running if not r.known and r.what != "kernel"]
        return faults

    def _jobs(self, engine: str) -> list[_Running]:
        """Jobs of an engine that may be under way, in order."""
        return [r for r in self._running if r.what == "job" and r.engine == engine and not r.known]

    def _end(self, engine: str, *, before: _Running) -> None:
        for running in self._running[: self._running.index(before)]:
            if running.what == "job" and running.engine == engine:
                running.known = True

    def step(self, where: str, step: Step) -> list[str]:
        faults: list[str] = []
        if step.page is not None:
            record = _Touch.of(step.page.access, writes=False)
            faults += self._clash(where, "the record's read", _ALL, [record], "kernel")
        for action in step.actions:
            faults += _check_numbers(where, action)
            if isinstance(action, Begin):
                self._open[action.agent] = (action.agent, action.group)
                if any(r.key == ("group", action.agent, action.group) and not r.known for r in self._running):
                    faults.append(f"{where}: group {action.group} of core {action.agent} is still under way")
                continue
            touches = [_Touch.of(a, writes=False) for a in read_by(action)]
            touches += [_Touch.of(a, writes=True) for a in action.writes]
            what: str
            agent: int | str
            key: Any
            engine = ""
            if isinstance(action, Kernel):
                what, agent, key = "kernel", _ALL, None
            elif isinstance(action, Job):
                what, agent, key, engine = "job", 0, ("ticket", action.ticket), action.engine
            elif isinstance(action, Fetch):
                what, agent, key = "fetch", 0, ("l3",)
            else:
                what, agent = "transfer", action.agent
                key = ("group", *self._open[agent]) if agent in self._open else None
            faults += self._clash(where, action.do, agent, touches, what, engine)
            if isinstance(action, Job):
                earlier = self._jobs(engine)
                for over in earlier[: max(0, len(earlier) + 1 - action.queue)]:
                    over.known = True
                if any(r.key == key and not r.known for r in self._running):
                    faults.append(f"{where}: ticket {action.ticket} belongs to a job that may be under way")
                # A core reads the descriptor to submit the job, and is done with it when the cores meet again.
                descriptor = [t for t in touches if t.access is action.descriptor]
                self._running.append(_Running("kernel", agent, descriptor, None))
                touches = [t for t in touches if t.access is not action.descriptor]
            self._running.append(_Running(what, agent, touches, key, engine))
        groups = {r.key for r in self._running if r.what == "transfer" and not r.known}
        if len(groups) > self._counters:
            faults.append(
                f"{where}: {len(groups)} groups of transfers under way, the DMA has {self._counters} counters"
            )
        return faults

    def _clash(
        self,
        where: str,
        who: str,
        agent: int | str,
        touches: list[_Touch],
        what: str,
        engine: str = "",
    ) -> list[str]:
        for running in self._running:
            if running.what == what and what in ("job", "fetch") and running.engine == engine:
                continue  # an accelerator and the I/O DMA work in order
            if running.known and running.agent == agent:
                continue
            for mine in touches:
                for other in running.touches:
                    if mine.meets(other):
                        place = f"{mine.access.space} byte {mine.start}"
                        return [f"{where}: {who} touches {place} while a {running.what} may use it"]
        return []

    def end(self) -> list[str]:
        left = [r for r in self._running if r.what != "kernel" and not r.known]
        if left:
            return [f"{len(left)} transfers or jobs are never waited for"]
        return (
            ["the last barrier is missing: cores may still compute when the network returns"] if self._running else []
        )


def _check_numbers(where: str, action: Action) -> list[str]:
    if isinstance(action, Begin) and not 0 <= action.group < _GROUPS:
        return [f"{where}: there is no group {action.group} of transfers"]
    if isinstance(action, Job) and not 0 <= action.ticket < _TICKETS:
        return [f"{where}: there is no ticket {action.ticket}"]
    return []
