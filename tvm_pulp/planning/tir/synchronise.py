"""Pass: synchronisation for many cores, the DMA and accelerators.

Expects statements in the order of their positions with addresses (`prefetch`, `place`), correct if executed one after
the other. All cores run kernels together; one of up to four cores, the agents, issues a transfer
and waits for it: streaming loads and jobs are core 0's, stores core 1's, what is fetched ahead core 2's and core 3's,
since the DMA takes only two commands of a core at once and holds the core up that issues a third.

Statements of one position become a step, and a step is preceded by exactly the waits and the barrier that its
statements need because they touch bytes of something that may still be under way:

    { load 1; call 0 }; { store 0; call 1 }      becomes
    step; begin; load 1; call 0;   wait(load 1); barrier; step; begin; store 0; call 1

The result is a flat list: `dma_wait(agent, group)`, `job_wait(ticket)`, `l3_wait()`, `barrier()`, `step(position)`,
`dma_begin(agent, group)` and the statements that were there, transfers with their agent in front, jobs with their
ticket behind.

`planning.program.under_way` knows what may be under way. Every engine has tickets of its own, as many as its queue
holds jobs where there are enough of them for all engines.

Kernels of teams that follow each other run side by side: in front of the first of them everything is waited for that
any of them needs and that began earlier, and between them only the cores meet that share data.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, groupby

from tvm_pulp.errors import UserError
from tvm_pulp.planning.program.actions import Begin, Wait, WaitForJob, WaitForL3, WaitForTransfers
from tvm_pulp.planning.program.executor_limits import GROUPS_OF_AGENT, TICKETS
from tvm_pulp.planning.program.positions import BOOT, computing_slot
from tvm_pulp.planning.program.under_way import Started, Touched, UnderWay
from tvm_pulp.planning.tiling.schedule.program import Bundle
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
from tvm_pulp.quick_records import changed
from tvm_pulp.uma.teams import ALL_CORES, joint

# Groups of transfers that each of several agents may have under way: they share the DMA's 16 counters.
GROUPS = (5, 3, 4, 4)

# Transfers by agent, the position that needs them, and if they leave L1.
_Groups = dict[tuple[int, int | None, bool], list[tuple[MoveBytes, Touched]]]


@dataclass
class _Sync:
    """Waits and barrier in front of a step."""

    waits: list[Started] = field(default_factory=list)
    team: int = 0  # that meets, 0: nobody

    def wait(self, started: Started) -> None:
        if not started.is_known and started not in self.waits:
            self.waits.append(started)

    def meet(self, team: int = ALL_CORES) -> None:
        self.team = joint(self.team, team) if self.team else team


def synchronise(main: Main, tables: Tables) -> Main:
    """The function with agents, waits and barriers."""
    agents = len(GROUPS) if min(tables.plan.cores, tables.plan.agents) >= len(GROUPS) else 1
    return main.with_statements(_Pass(tables, agents).run(positioned(main)), has_agents=True)


class _Pass:
    def __init__(self, tables: Tables, agents: int) -> None:
        self._tables, self._agents = tables, agents
        self._under_way = UnderWay()
        self._result: list[Statement] = []
        self._pages: list[Bundle] = []  # that all cores may read
        self._tickets: dict[str, range] = {}
        # Kernels of teams that follow each other, by the slot of the first.
        self._beside: dict[int, list[CallKernel]] = {}

    def run(self, statements: Sequence[Positioned]) -> list[Statement]:
        self._tickets = share_tickets({s.engine: s.queue for s in statements if isinstance(s, SubmitJob)})
        self._beside = _side_by_side(statements)
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
        fetched = UnderWay()
        fetched.started = [_started(made) for made in fetches]
        if any(True for made in loads for _ in fetched.clashes(_started(made))):
            self._result += [WaitForL3(agent=0, l3=True), BeginStep(BOOT)]
        else:
            self._under_way = fetched
        self._result += [Begin(agent=0, group=0), *loads, WaitForTransfers(0, 0), Barrier()]
        pages = self._tables.plan.schedule.pages
        self._pages = [*pages[:1]]

    def _step(self, position: int, statements: list[Positioned]) -> None:
        sync = _Sync()
        groups: _Groups = {}
        agents = self._agents_of(statements)
        others: list[tuple[CallKernel | SubmitJob | FetchBytes, Started]] = []
        for made in statements:
            if isinstance(made, BeginLayer):
                continue
            if isinstance(made, MoveBytes):
                made = changed(made, agent=agents[id(made)]) if agents[id(made)] != made.agent else made
            started = _started(made)
            self._require(sync, started)
            if isinstance(made, MoveBytes):
                key = (made.agent, self._tables.moves[made.move].needed, made.do == "store")
                groups.setdefault(key, []).append((made, started.touched))
            else:
                others.append((made, started))
                # What others need beside it is waited for here: nobody can begin beside a kernel that he waits for.
                for later in self._beside.get(made.slot, ()) if isinstance(made, CallKernel) else ():
                    self._require(sync, _started(later))
        self._turn_page(position, sync)
        if position > self._tables.plan.schedule.end:
            # The network ends when everything has ended.
            sync.meet()
            for started in self._under_way.started:
                if started.kind != "kernel":
                    sync.wait(started)
        groups = self._merge_groups(groups)
        self._limit_groups(sync, [agent for agent, _, _ in groups])
        self._limit_jobs(sync, [made for made, _ in others if isinstance(made, SubmitJob)])
        self._emit_sync(sync)
        self._result.append(BeginStep(position))
        self._result += [s for s in statements if isinstance(s, BeginLayer)]
        for made, started in others:
            if isinstance(made, SubmitJob):
                self._under_way.make_room(made.engine, made.queue)
                taken = {job.number for job in self._under_way.jobs(made.engine)}
                started.number = next(n for n in self._tickets[made.engine] if n not in taken)
                self._start(changed(made, ticket=started.number), started)
        for made, started in others:
            if isinstance(made, FetchBytes):
                self._start(made, started)
        for (agent, _, _), members in groups.items():
            taken = {s.number for s in self._under_way.running("transfer") if s.agent == agent}
            number = next(n for n in range(GROUPS_OF_AGENT) if n not in taken)
            self._result += [Begin(agent=agent, group=number), *(made for made, _ in members)]
            reads, writes = (tuple(a for _, t in members for a in getattr(t, n)) for n in ("reads", "writes"))
            bundles = frozenset(made.bundle for made, _ in members if made.bundle is not None)
            started = Started("transfer", agent, Touched(reads, writes), number, bundles=bundles)
            self._under_way.started.append(started)
        for made, started in others:
            if isinstance(made, CallKernel):
                self._start(made, started)

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

    def _start(self, made: Statement, started: Started) -> None:
        self._result.append(made)
        self._under_way.started.append(started)

    def _require(self, sync: _Sync, new: Started) -> None:
        """Note what must be over, and be known to its agent, before something new begins."""
        for started, _ in self._under_way.clashes(new):
            if started.kind != "kernel":
                sync.wait(started)
            if started.agent != new.agent or started.kind == "kernel":
                sync.meet(started.meeting(new) if self._beside else ALL_CORES)

    def _turn_page(self, position: int, sync: _Sync) -> None:
        """All cores read the record of a step: the page that holds it must be there before the barrier."""
        slot, pages = computing_slot(position), self._tables.plan.schedule.pages
        if slot is None or slot >= len(pages) or pages[slot] in self._pages:
            return
        self._pages = list(dict.fromkeys(pages[slot : slot + 1 + len(self._beside.get(slot, ()))]))
        sync.meet()
        numbers = {page.number for page in self._pages}
        for started in self._under_way.started:
            if numbers & started.bundles:
                sync.wait(started)

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
        return GROUPS[agent] if self._agents == len(GROUPS) else GROUPS_OF_AGENT

    def _limit_groups(self, sync: _Sync, agents: list[int]) -> None:
        """More groups under way than there are counters: wait for the oldest."""
        for agent in set(agents):
            mine = [s for s in self._under_way.running("transfer") if s.agent == agent and s not in sync.waits]
            for started in mine[: max(0, len(mine) + agents.count(agent) - self._limit(agent))]:
                sync.wait(started)

    def _limit_jobs(self, sync: _Sync, jobs: list[SubmitJob]) -> None:
        """An engine with fewer tickets than its queue holds jobs: wait for the oldest before its ticket is needed."""
        for job in jobs:
            mine = [s for s in self._under_way.jobs(job.engine) if s not in sync.waits]
            tickets = len(self._tickets[job.engine])
            for started in mine[: max(0, len(mine) + 1 - tickets) if tickets < job.queue else 0]:
                sync.wait(started)

    def _emit_sync(self, sync: _Sync) -> None:
        # Jobs of an engine end in order: the last is the one to wait for. The I/O DMA tells of all fetches at once.
        waits = [s for s in self._under_way.started if s in sync.waits]
        last = {s.engine: s for s in waits if s.kind == "job"}
        for started in waits:
            if not started.is_known and last.get(started.engine, started) is started:
                wait: Wait = WaitForTransfers(started.agent, started.number)
                if started.kind != "transfer":
                    wait = WaitForL3(agent=0, l3=True) if started.kind == "fetch" else WaitForJob(0, started.number)
                self._result.append(wait)
                self._under_way.wait(wait)
        if sync.team:
            self._result.append(Barrier(sync.team))
            self._under_way.meet(sync.team)


def _side_by_side(statements: Sequence[Positioned]) -> dict[int, list[CallKernel]]:
    """Kernels of teams that follow a kernel of a team without anything between, by the slot of the first."""
    found: dict[int, list[CallKernel]] = {}
    first: int | None = None
    for made in statements:
        if isinstance(made, CallKernel) and made.team is not None:
            if first is None:
                first = made.slot
                found[first] = []
            else:
                found[first].append(made)
        elif isinstance(made, CallKernel | SubmitJob):
            first = None
    return found


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


def _started(made: MoveBytes | FetchBytes | CallKernel | SubmitJob) -> Started:
    """The beginning of a statement, at the place of another tensor where a pass bound its own to that."""
    if isinstance(made, MoveBytes) and made.external is not None:
        outside, place = made.outside, made.external
        assert outside is not None
        if (outside.space, outside.start) != (place.space, place.offset):
            bound = (changed(outside, space=place.space, start=place.offset),)
            made = changed(made, reads=bound) if made.do == "load" else changed(made, writes=bound)
    return Started.by(made, made.reads)
