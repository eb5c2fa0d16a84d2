"""The rules of what may be under way together, and of who knows that it is over.

A transfer or job is over for the agent that waited for it, and for all cores after the next barrier; a kernel is over
after the next barrier. A barrier of a team tells its cores what any of them knows. Jobs of one engine end in order, and
submitting one returns when all but as many as the engine's queue holds are over; jobs of different engines run side by
side. The I/O DMA works in order too, and tells only whether it has anything left to do.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tvm_pulp.planning.program.actions import (
    Access,
    FetchAction,
    JobAction,
    KernelAction,
    TransferAction,
    Wait,
    WaitForJob,
    WaitForL3,
)
from tvm_pulp.quick_records import quick_record
from tvm_pulp.uma.teams import ALL_CORES, EVERYBODY, FIRST_QUARTER, joint, quarters, team_of

# Of kernels, which no single core issues.
NO_AGENT = -1


# Space, first byte and the byte behind the last of an access, which is asked for more.
_Span = tuple[str, int, int, Access]


@quick_record(slots=False)
class Touched:
    """The bytes that something reads and writes."""

    reads: tuple[Access, ...]
    writes: tuple[Access, ...]

    @cached_property
    def _spans(self) -> tuple[tuple[_Span, ...], tuple[_Span, ...]]:
        reads, writes = (tuple((a.space, a.start, a.end, a) for a in part) for part in (self.reads, self.writes))
        return reads, writes

    def clash(self, other: "Touched") -> Access | None:
        """One of these accesses whose order with the other's matters: they share a byte that one of them writes."""
        (reads, writes), (their_reads, their_writes) = self._spans, other._spans
        for mine, theirs in ((writes, their_reads), (writes, their_writes), (reads, their_writes)):
            for space, start, end, a in mine:
                for their_space, their_start, their_end, b in theirs:
                    # Most places are apart by far: asked before the exact question, in bytes that lines span at most.
                    if their_start < end and start < their_end and space == their_space and a.overlaps(b):
                        return a
        return None


@dataclass(eq=False, slots=True)
class Started:
    """Something that may still be under way, or is over but only its agent knows."""

    kind: str  # transfer, fetch, job, kernel, record (all cores read one)
    agent: int
    touched: Touched
    number: int = 0  # of its group or ticket
    engine: str = ""
    bundles: frozenset[int] = frozenset()
    is_known: bool = False  # to its agent: it is over
    team: int = ALL_CORES  # that runs it, of kernels
    known_to: int = 0  # quarters of the cores that know that it is over

    @staticmethod
    def by(action: TransferAction | FetchAction | JobAction | KernelAction, reads: tuple[Access, ...]) -> "Started":
        """The beginning of an action. Engines write whole beats; what they read behind an operand changes nothing,
        unless they compute with it."""
        touched = Touched(tuple(a.filled for a in reads), tuple(a.whole for a in action.writes))
        if isinstance(action, KernelAction):
            return Started("kernel", NO_AGENT, touched, team=action.team or ALL_CORES)
        if isinstance(action, JobAction):
            return Started("job", 0, touched, action.ticket, action.engine)
        return Started("fetch" if isinstance(action, FetchAction) else "transfer", action.agent, touched)

    @property
    def actors(self) -> int:
        """The team that it belongs to: that of the agents, unless it is a kernel."""
        return self.team if self.agent == NO_AGENT else FIRST_QUARTER

    def meeting(self, new: "Started") -> int:
        """The team that has to meet before something new may begin."""
        return joint(team_of(self.known_to) if self.known_to else self.actors, new.actors)


class UnderWay:
    """Everything that was started, the oldest first, until all cores know that it is over."""

    def __init__(self) -> None:
        self.started: list[Started] = []

    def running(self, kind: str) -> list[Started]:
        """Transfers, fetches or jobs that nobody waited for."""
        return [s for s in self.started if s.kind == kind and not s.is_known]

    def jobs(self, engine: str) -> list[Started]:
        """Jobs of an engine that nobody waited for."""
        return [s for s in self.running("job") if s.engine == engine]

    def clashes(self, new: Started) -> Iterator[tuple[Started, Access]]:
        """The things that must be over, and known to its agent, before something new, with a place that they share."""
        for other in self.started:
            if other.kind == new.kind and new.kind in ("job", "fetch") and other.engine == new.engine:
                continue  # an accelerator and the I/O DMA work in order
            if other.is_known and other.agent == new.agent:
                continue
            if other.known_to and not quarters(new.actors) & ~other.known_to:
                continue
            access = new.touched.clash(other.touched)
            if access is not None:
                yield other, access

    def wait(self, wait: Wait) -> bool:
        """An agent waits; tell if there was something to wait for."""
        if isinstance(wait, WaitForL3):
            found = self.running("fetch")
        elif isinstance(wait, WaitForJob):
            found = [s for s in self.running("job") if s.number == wait.ticket]
            jobs = self.jobs(found[-1].engine) if found else []
            found += jobs[: jobs.index(found[-1])] if found else []
        else:
            found = [s for s in self.running("transfer") if (s.agent, s.number) == (wait.agent, wait.group)]
        for over in found:
            over.is_known = True
        return bool(found)

    def make_room(self, engine: str, queue: int) -> None:
        """Core 0 returns from submitting a job when all but the last few are over."""
        jobs = self.jobs(engine)
        for over in jobs[: max(0, len(jobs) + 1 - queue)]:
            over.is_known = True

    def meet(self, team: int = ALL_CORES) -> None:
        """All cores, or those of a team, meet at a barrier."""
        present = quarters(team)
        for one in self.started:
            over = one.is_known or one.agent == NO_AGENT or one.kind == "kernel"
            if one.known_to & present or (over and not quarters(one.actors) & ~present):
                one.known_to |= present
        self.started = [s for s in self.started if s.known_to != EVERYBODY]
