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

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate, groupby
from typing import Any

from tvm import tirx

from tvm_pulp.errors import UserError
from tvm_pulp.planning.tiling.schedule.schedule import BOOT, Bundle, Move
from tvm_pulp.planning.tir.accesses import access_of
from tvm_pulp.planning.tir.regions import Access
from tvm_pulp.planning.tir.statements import (
    BARRIER,
    BEGIN,
    BUNDLE,
    CALL,
    END,
    FETCHES,
    LAYER,
    STEP,
    SUBMIT,
    WAIT_DMA,
    WAIT_JOB,
    WAIT_L3,
    call,
    integer,
    statement,
    statement_name,
)
from tvm_pulp.planning.tir.tables import Tables
from tvm_pulp.uma.recipe import Job

# Groups of transfers that each agent may have under way: the DMA has 16 counters, an agent numbers eight.
GROUPS = (5, 3, 4, 4)
GROUPS_OF_ONE_AGENT = 7
# Jobs that can be waited for one by one: TVM_PULP_TICKETS of the executor.
TICKETS = 8
_ALL_CORES = -1


@dataclass(eq=False)
class _Pending:
    """Something that may still be under way, or is over but only its agent knows."""

    kind: str  # dma, l3, job, kernel
    accesses: list[Access]
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


def insert_barriers(function: Any, tables: Tables) -> Any:
    """The function with agents, waits and barriers."""
    agents = len(GROUPS) if min(tables.plan.cores, tables.plan.agents) >= len(GROUPS) else 1
    return _Pass(tables, agents).run(function)


class _Pass:
    def __init__(self, tables: Tables, agents: int) -> None:
        self._tables, self._agents = tables, agents
        self._pending: list[_Pending] = []
        self._result: list[Any] = []
        self._count = 0
        self._page: Bundle | None = None
        jobs = [slot.step for slot in tables.slots if isinstance(slot.step, Job)]
        self._tickets = share_tickets({job.engine: job.queue for job in jobs})

    def run(self, function: Any) -> Any:
        for position, group in groupby(function.body.seq, key=lambda s: integer(s, 0)):
            if position == BOOT:
                self._boot(list(group))
            else:
                self._step(position, list(group))
        return function.with_body(tirx.SeqStmt([*self._result, statement(END)]))

    def _boot(self, statements: list[Any]) -> None:
        """The entry function waits for what it fetched; the executor's first page is among it."""
        fetches = [s for s in statements if statement_name(s) in FETCHES]
        loads = [s for s in statements if statement_name(s) not in FETCHES]
        self._result += [statement(STEP, BOOT), *fetches]
        for made in fetches:
            self._add("l3", [access_of(self._tables, made)], 0, 0)
        if any(self._conflicts(access_of(self._tables, made)) for made in loads):
            self._result += [statement(WAIT_L3), statement(STEP, BOOT)]
            self._pending = []
        self._result.append(statement(BEGIN, 0, 0))
        self._result += [tirx.Evaluate(_with_agent(s.value, 0)) for s in loads]
        self._result += [statement(WAIT_DMA, 0, 0), statement(BARRIER)]
        pages = self._tables.plan.schedule.pages
        self._page = pages[0] if pages else None

    def _step(self, position: int, statements: list[Any]) -> None:
        names = [statement_name(s) for s in statements]
        sync = _Sync()
        groups: dict[tuple[int, int | None, bool], list[tuple[Any, Access]]] = {}
        agents = self._agents_of(statements)
        calls: list[tuple[Any, Access]] = []
        jobs: list[tuple[Any, Access]] = []
        fetches: list[tuple[Any, Access]] = []
        for made, name in zip(statements, names, strict=True):
            if name == LAYER:
                continue
            access = access_of(self._tables, made)
            if name in FETCHES:
                fetches.append((made, access))
                self._require(sync, access, 0, "l3")
            elif name == CALL:
                calls.append((made, access))
                self._require(sync, access, _ALL_CORES, "kernel")
            elif name == SUBMIT:
                jobs.append((made, access))
                self._require(sync, access, 0, "job", self._job(made).engine)
            else:
                move, agent = self._tables.moves[integer(made, 1)], agents[made]
                groups.setdefault((agent, move.needed, move.outward), []).append((made, access))
                self._require(sync, access, agent, "dma")
        self._turn_page(position, sync)
        if position > self._tables.plan.schedule.end:
            # The network ends when everything has ended.
            sync.barrier = True
            for pending in self._pending:
                if pending.kind != "kernel":
                    sync.wait(pending)
        groups = self._merge_groups(groups)
        self._limit_groups(sync, [agent for agent, _, _ in groups])
        self._limit_jobs(sync, [self._job(made) for made, _ in jobs])
        self._emit_sync(sync)
        self._result.append(statement(STEP, position))
        self._result += [s for s, name in zip(statements, names, strict=True) if name == LAYER]
        for made, access in jobs:
            job = self._job(made)
            ticket = self._ticket(job.engine)
            self._result.append(statement(SUBMIT, *made.value.args[1:], ticket))
            self._add("job", [access], 0, ticket, engine=job.engine)
            # Core 0 returns from submitting it when all but the last few are over.
            for over in self._jobs(job.engine)[: -job.queue]:
                over.waited = True
        for made, access in fetches:
            self._result.append(made)
            self._add("l3", [access], 0, 0)
        for (agent, _, _), members in groups.items():
            number = self._group(agent)
            self._result.append(statement(BEGIN, agent, number))
            self._result += [tirx.Evaluate(_with_agent(made.value, agent)) for made, _ in members]
            bundles = frozenset(integer(m, 3) for m, _ in members if statement_name(m) == BUNDLE)
            self._add("dma", [a for _, a in members], agent, number, bundles)
        for made, access in calls:
            self._result.append(made)
            self._add("kernel", [access], _ALL_CORES, 0)

    def _agents_of(self, statements: list[Any]) -> dict[Any, int]:
        """Who issues the transfers of a step.

        Nobody says which of two cores is first, so what is needed soon could wait behind much that is needed late: all
        loads are those of the core that has the most urgent one, as long as the DMA takes them without holding it up.
        """
        names = [statement_name(s) for s in statements]
        transfers = [
            s for s, name in zip(statements, names, strict=True) if name not in (LAYER, *FETCHES, CALL, SUBMIT)
        ]
        agents = {made: self._agent(made, beside_kernel=CALL in names) for made in transfers}
        loads = [made for made in transfers if not self._move(made).outward]
        if len({agents[made] for made in loads}) > 1 and len(loads) <= self._tables.plan.commands_in_flight:
            first = min(loads, key=lambda made: self._move(made).needed or 0)
            agents |= dict.fromkeys(loads, agents[first])
        return agents

    def _agent(self, made: Any, *, beside_kernel: bool) -> int:
        """Who issues a transfer. Beside a job or alone it is core 0, which needs no barrier to know about the job."""
        if self._agents < len(GROUPS) or not beside_kernel:
            return 0
        move = self._move(made)
        return 1 if move.outward else 2 + move.layer % 2 if move.ahead else 0

    def _move(self, made: Any) -> Move:
        return self._tables.moves[integer(made, 1)]

    def _job(self, made: Any) -> Job:
        step = self._tables.slots[integer(made, 1)].step
        assert isinstance(step, Job)
        return step

    def _add(
        self,
        kind: str,
        accesses: list[Access],
        agent: int,
        number: int,
        bundles: frozenset[int] = frozenset(),
        engine: str = "",
    ) -> None:
        self._count += 1
        self._pending.append(_Pending(kind, accesses, agent, number, self._count, bundles, engine))

    def _conflicts(self, access: Access) -> bool:
        return any(access.conflicts(a) for p in self._pending for a in p.accesses)

    def _require(self, sync: _Sync, access: Access, actor: int, kind: str, engine: str = "") -> None:
        """Note what must be over, and be known to the actor, before a statement with this access."""
        for pending in self._pending:
            if not any(access.conflicts(a) for a in pending.accesses):
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

    def _merge_groups(self, groups: dict[Any, list[Any]]) -> dict[Any, list[Any]]:
        """A step opens no more groups than an agent has counters: what is needed last shares one."""
        merged: dict[Any, list[Any]] = {}
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

    def _limit_jobs(self, sync: _Sync, jobs: list[Job]) -> None:
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
            self._result.append(statement(BARRIER))
            self._pending = [p for p in self._pending if p.kind != "kernel" and not p.waited]

    def _emit_wait(self, pending: _Pending) -> None:
        if pending.kind == "dma":
            self._result.append(statement(WAIT_DMA, pending.agent, pending.number))
        elif pending.kind == "l3":
            # The I/O DMA tells only whether it has anything left to do.
            if not pending.waited:
                self._result.append(statement(WAIT_L3))
            for other in self._pending:
                other.waited = other.waited or other.kind == "l3"
        else:
            self._result.append(statement(WAIT_JOB, pending.number))
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


def _with_agent(value: Any, agent: int) -> Any:
    name, *rest = value.args
    return call(str(name.value), agent, *rest)
