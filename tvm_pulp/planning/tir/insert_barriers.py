"""Pass: synchronisation for many cores, the DMA and accelerators.

Expects statements in the order of their positions (`double_buffer`) with addresses (`place_buffers`), correct if
executed one after the other. All cores run kernels together; one of up to four cores, the agents, issues a transfer
and waits for it: streaming loads and jobs are core 0's, stores core 1's, what is fetched ahead core 2's and core 3's,
since the DMA takes only two commands of a core at once and holds the core up that issues a third.

Statements of one position become a step, and a step is preceded by exactly the waits and the barrier that its
statements need because they touch bytes of something that may still be under way:

    { load 1; call 0 }; { store 0; call 1 }      becomes
    step; begin; load 1; call 0;   wait(load 1); barrier; step; begin; store 0; call 1

The result is a flat list: `dma_wait(agent, group)`, `job_wait(ticket)`, `l3_wait()`, `barrier()`, `step(position)`,
`dma_begin(agent, group)` and the statements that were there, transfers with their agent in front, jobs with their
ticket behind.

Jobs of one engine end in order; those of different engines know nothing of each other and are ordered by waits. Every
engine has tickets of its own, as many as its queue holds jobs where there are enough of them for all engines.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, groupby

from tvm_pulp.errors import UserError
from tvm_pulp.planning.program.actions import Access, Begin, WaitForJob, WaitForL3, WaitForTransfers
from tvm_pulp.planning.tiling.schedule.schedule import BOOT, Bundle
from tvm_pulp.planning.tir.statements import (
    Barrier,
    BeginLayer,
    BeginStep,
    CallKernel,
    End,
    FetchBytes,
    Main,
    MoveBytes,
    Positioned,
    Statement,
    SubmitJob,
    positioned,
)
from tvm_pulp.planning.tir.tables import Tables

# Groups of transfers that each agent may have under way: the DMA has 16 counters, an agent numbers eight.
GROUPS = (5, 3, 4, 4)
GROUPS_OF_ONE_AGENT = 7
# Jobs that can be waited for one by one: TVM_PULP_TICKETS of the executor.
TICKETS = 8
_ALL_CORES = -1


@dataclass(frozen=True, slots=True)
class _Touched:
    """The bytes that a statement reads and writes."""

    reads: tuple[Access, ...]
    writes: tuple[Access, ...]

    def conflicts(self, other: "_Touched") -> bool:
        """Tell if the order of two statements matters."""
        for a in self.writes:
            for b in (*other.reads, *other.writes):
                if a.space == b.space and a.overlaps(b):
                    return True
        for a in self.reads:
            for b in other.writes:
                if a.space == b.space and a.overlaps(b):
                    return True
        return False


# Transfers by agent, the position that needs them, and if they leave L1.
_Groups = dict[tuple[int, int | None, bool], list[tuple[MoveBytes, _Touched]]]


@dataclass(eq=False, slots=True)
class _Pending:
    """Something that may still be under way, or is over but only its agent knows."""

    kind: str  # dma, l3, job, kernel
    touched: list[_Touched]
    agent: int
    number: int  # group or ticket
    order: int
    bundles: frozenset[int] = frozenset()
    engine: str = ""
    waited: bool = False


@dataclass
class _Sync:
    """Waits and barrier in front of a step."""

    waits: list[_Pending] = field(default_factory=list)
    barrier: bool = False

    def wait(self, pending: _Pending) -> None:
        if not pending.waited and pending not in self.waits:
            self.waits.append(pending)


def insert_barriers(main: Main, tables: Tables) -> Main:
    """The function with agents, waits and barriers."""
    agents = len(GROUPS) if min(tables.plan.cores, tables.plan.agents) >= len(GROUPS) else 1
    return main.with_statements(_Pass(tables, agents).run(positioned(main)), has_agents=True)


class _Pass:
    def __init__(self, tables: Tables, agents: int) -> None:
        self._tables, self._agents = tables, agents
        self._pending: list[_Pending] = []
        self._result: list[Statement] = []
        self._count = 0
        self._page: Bundle | None = None
        self._tickets: dict[str, range] = {}

    def run(self, statements: Sequence[Positioned]) -> list[Statement]:
        self._tickets = share_tickets({s.engine: s.queue for s in statements if isinstance(s, SubmitJob)})
        for position, group in groupby(statements, key=lambda s: s.position):
            if position == BOOT:
                self._boot(list(group))
            else:
                self._step(position, list(group))
        return [*self._result, End()]

    def _boot(self, statements: list[Positioned]) -> None:
        """The entry function waits for what it fetched; the executor's first page is among it."""
        fetches = [s for s in statements if isinstance(s, FetchBytes)]
        loads = [s for s in statements if isinstance(s, MoveBytes)]
        self._result += [BeginStep(BOOT), *fetches]
        for made in fetches:
            self._add("l3", [_touched(made)], 0, 0)
        if any(self._conflicts(_touched(made)) for made in loads):
            self._result += [WaitForL3(agent=0, l3=True), BeginStep(BOOT)]
            self._pending = []
        self._result += [Begin(agent=0, group=0), *loads, WaitForTransfers(0, 0), Barrier()]
        pages = self._tables.plan.schedule.pages
        self._page = pages[0] if pages else None

    def _step(self, position: int, statements: list[Positioned]) -> None:
        sync = _Sync()
        groups: _Groups = {}
        agents = self._agents_of(statements)
        calls: list[tuple[CallKernel, _Touched]] = []
        jobs: list[tuple[SubmitJob, _Touched]] = []
        fetches: list[tuple[FetchBytes, _Touched]] = []
        for made in statements:
            if isinstance(made, BeginLayer):
                continue
            touched = _touched(made)
            if isinstance(made, MoveBytes):
                agent, needed = agents[id(made)], self._tables.moves[made.move].needed
                issued = replace(made, agent=agent) if agent != made.agent else made
                groups.setdefault((agent, needed, made.do == "store"), []).append((issued, touched))
                self._require(sync, touched, agent, "dma")
            elif isinstance(made, CallKernel):
                calls.append((made, touched))
                self._require(sync, touched, _ALL_CORES, "kernel")
            elif isinstance(made, SubmitJob):
                jobs.append((made, touched))
                self._require(sync, touched, 0, "job", made.engine)
            else:
                fetches.append((made, touched))
                self._require(sync, touched, 0, "l3")
        self._turn_page(position, sync)
        if position > self._tables.plan.schedule.end:
            # The network ends when everything has ended.
            sync.barrier = True
            for pending in self._pending:
                if pending.kind != "kernel":
                    sync.wait(pending)
        groups = self._merge_groups(groups)
        self._limit_groups(sync, [agent for agent, _, _ in groups])
        self._limit_jobs(sync, [made for made, _ in jobs])
        self._emit_sync(sync)
        self._result.append(BeginStep(position))
        self._result += [s for s in statements if isinstance(s, BeginLayer)]
        for job, touched in jobs:
            ticket = self._ticket(job.engine)
            self._result.append(replace(job, ticket=ticket))
            self._add("job", [touched], 0, ticket, engine=job.engine)
            # Core 0 returns from submitting it when all but the last few are over.
            for over in self._jobs(job.engine)[: -job.queue]:
                over.waited = True
        for fetch, touched in fetches:
            self._result.append(fetch)
            self._add("l3", [touched], 0, 0)
        for (agent, _, _), members in groups.items():
            number = self._group(agent)
            self._result += [Begin(agent=agent, group=number), *(made for made, _ in members)]
            bundles = frozenset(made.bundle[0] for made, _ in members if made.bundle is not None)
            self._add("dma", [touched for _, touched in members], agent, number, bundles)
        for call, touched in calls:
            self._result.append(call)
            self._add("kernel", [touched], _ALL_CORES, 0)

    def _agents_of(self, statements: list[Positioned]) -> dict[int, int]:
        """Who issues the transfers of a step.

        Nobody says which of two cores is first, so what is needed soon could wait behind much that is needed late: all
        loads are those of the core that has the most urgent one, as long as the DMA takes them without holding it up.
        """
        beside_kernel = any(isinstance(s, CallKernel) for s in statements)
        transfers = [s for s in statements if isinstance(s, MoveBytes)]
        agents = {id(made): self._agent(made, beside_kernel=beside_kernel) for made in transfers}
        loads = [made for made in transfers if made.do == "load"]
        if len({agents[id(made)] for made in loads}) > 1 and len(loads) <= self._tables.plan.commands_in_flight:
            first = min(loads, key=lambda made: self._tables.moves[made.move].needed or 0)
            agents |= dict.fromkeys(map(id, loads), agents[id(first)])
        return agents

    def _agent(self, made: MoveBytes, *, beside_kernel: bool) -> int:
        """Who issues a transfer. Beside a job or by itself it is core 0, which needs no barrier to know of the job."""
        if self._agents < len(GROUPS) or not beside_kernel:
            return 0
        return 1 if made.do == "store" else 2 + made.layer % 2 if made.ahead else 0

    def _add(
        self,
        kind: str,
        touched: list[_Touched],
        agent: int,
        number: int,
        bundles: frozenset[int] = frozenset(),
        engine: str = "",
    ) -> None:
        self._count += 1
        self._pending.append(_Pending(kind, touched, agent, number, self._count, bundles, engine))

    def _conflicts(self, touched: _Touched) -> bool:
        return any(touched.conflicts(t) for p in self._pending for t in p.touched)

    def _require(self, sync: _Sync, touched: _Touched, actor: int, kind: str, engine: str = "") -> None:
        """Note what must be over, and be known to the actor, before a statement that touches these bytes."""
        for pending in self._pending:
            if not any(touched.conflicts(t) for t in pending.touched):
                continue
            if pending.kind == kind and kind in ("job", "l3") and pending.engine == engine:
                continue  # an accelerator and the I/O DMA work in order
            if pending.kind != "kernel":
                sync.wait(pending)
            if pending.agent != actor or pending.kind == "kernel":
                sync.barrier = True

    def _turn_page(self, position: int, sync: _Sync) -> None:
        """All cores read the record of a step: the page that holds it must be there before the barrier."""
        slot, part = divmod(position, 3)
        pages = self._tables.plan.schedule.pages
        if part != 2 or slot >= len(pages) or pages[slot] is self._page:
            return
        self._page = pages[slot]
        sync.barrier = True
        for pending in self._pending:
            if self._page.number in pending.bundles:
                sync.wait(pending)

    def _merge_groups(self, groups: _Groups) -> _Groups:
        """A step opens no more groups than an agent has counters: what is needed last shares one."""
        merged: _Groups = {}
        for agent in dict.fromkeys(key[0] for key in groups):
            mine = sorted((k for k in groups if k[0] == agent), key=lambda k: -1 if k[1] is None else k[1])
            for number, key in enumerate(mine):
                target = key if number < self._limit(agent) else mine[self._limit(agent) - 1]
                merged.setdefault(target, []).extend(groups[key])
        return merged

    def _limit(self, agent: int) -> int:
        return GROUPS[agent] if self._agents == len(GROUPS) else GROUPS_OF_ONE_AGENT

    def _limit_groups(self, sync: _Sync, agents: list[int]) -> None:
        """More groups under way than there are counters: wait for the oldest."""
        for agent in set(agents):
            limit = self._limit(agent)
            mine = _oldest_first(
                p
                for p in self._pending
                if p.kind == "dma" and p.agent == agent and not p.waited and p not in sync.waits
            )
            for pending in mine[: max(0, len(mine) + agents.count(agent) - limit)]:
                sync.wait(pending)

    def _limit_jobs(self, sync: _Sync, jobs: list[SubmitJob]) -> None:
        """An engine with fewer tickets than its queue holds jobs: wait for the oldest before its ticket is needed."""
        for job in jobs:
            mine, tickets = [p for p in self._jobs(job.engine) if p not in sync.waits], len(self._tickets[job.engine])
            for pending in mine[: max(0, len(mine) + 1 - tickets) if tickets < job.queue else 0]:
                sync.wait(pending)

    def _emit_sync(self, sync: _Sync) -> None:
        for pending in _oldest_first(sync.waits):
            # Jobs of an engine end in order: the last is the one to wait for.
            if pending.kind != "job" or not any(
                p.engine == pending.engine and p.order > pending.order for p in sync.waits if p.kind == "job"
            ):
                self._emit_wait(pending)
        if sync.barrier:
            self._result.append(Barrier())
            self._pending = [p for p in self._pending if p.kind != "kernel" and not p.waited]

    def _emit_wait(self, pending: _Pending) -> None:
        if pending.kind == "dma":
            self._result.append(WaitForTransfers(pending.agent, pending.number))
        elif pending.kind == "l3":
            # The I/O DMA tells only whether it has anything left to do.
            if not pending.waited:
                self._result.append(WaitForL3(agent=0, l3=True))
            for other in self._pending:
                other.waited = other.waited or other.kind == "l3"
        else:
            self._result.append(WaitForJob(0, pending.number))
            for earlier in self._jobs(pending.engine):
                earlier.waited = earlier.waited or earlier.order < pending.order
        pending.waited = True

    def _group(self, agent: int) -> int:
        taken = {p.number for p in self._pending if p.kind == "dma" and p.agent == agent and not p.waited}
        return next(n for n in range(GROUPS_OF_ONE_AGENT) if n not in taken)

    def _jobs(self, engine: str) -> list[_Pending]:
        """Jobs of an engine that may be under way, the oldest first."""
        return _oldest_first(p for p in self._pending if p.kind == "job" and p.engine == engine and not p.waited)

    def _ticket(self, engine: str) -> int:
        """A free ticket: `_limit_jobs` made sure of one, unless submitting waits for the job that holds it."""
        jobs = self._jobs(engine)
        free = [n for n in self._tickets[engine] if n not in {p.number for p in jobs}]
        return free[0] if free else jobs[0].number


def share_tickets(queues: Mapping[str, int]) -> dict[str, range]:
    """Tickets of every engine: as many as its queue holds, fewer for the longest queues where that is too many."""
    sizes = dict(queues)
    if len(sizes) > TICKETS:
        raise UserError(
            f"the plan uses {len(sizes)} accelerators and the executor keeps {TICKETS}: name fewer in --target"
        )
    while sum(sizes.values()) > TICKETS:
        sizes[max(sizes, key=lambda engine: sizes[engine])] -= 1
    ends = list(accumulate(sizes.values()))
    return {engine: range(end - size, end) for (engine, size), end in zip(sizes.items(), ends, strict=True)}


def _oldest_first(pending: Iterable[_Pending]) -> list[_Pending]:
    return sorted(pending, key=lambda p: p.order)


def _touched(made: MoveBytes | FetchBytes | CallKernel | SubmitJob) -> _Touched:
    """The bytes that matter to others: engines write whole beats, what they read behind an operand changes nothing."""
    if isinstance(made, SubmitJob):
        return _Touched(made.reads, tuple(replace(a, bytes=max(a.bytes, a.reach or 0)) for a in made.writes))
    if isinstance(made, MoveBytes) and made.external is not None:
        inside, outside = made.inside, made.outside
        assert outside is not None
        if (outside.space, outside.start) != (made.external.space, made.external.offset):
            # A pass bound the tensor to the place of another one.
            outside = replace(outside, space=made.external.space, start=made.external.offset)
        return _Touched((outside,), (inside,)) if made.do == "load" else _Touched((inside,), (outside,))
    return _Touched(made.reads, made.writes)
