"""Expected cycles: the program of a plan executed on a clock for the cores, the DMA's two directions and accelerators.

What things take is the cost model's business; this is the order in which they happen.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tvm_pulp.planning.estimate.code_cache import CodeCache
from tvm_pulp.planning.program.actions import (
    FetchAction,
    JobAction,
    KernelAction,
    Step,
    TransferAction,
    WaitForJob,
    WaitForL3,
)
from tvm_pulp.planning.tiling.cost.step_clock import StepClock
from tvm_pulp.quick_records import quick_record
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.uma.teams import ALL_CORES, QUARTERS, quarters


@dataclass
class _Ongoing:
    """A transfer or a job that may still be under way."""

    start: int
    end: int
    key: Any  # under which its end is waited for
    place: int  # among what its engine or DMA was given
    span: int  # its place in the list of spans
    beside_transfers: float = 0.0  # by how much a job is slower there
    on_transfers: float = 0.0  # by how much it slows them down
    beside_kernels: float = 0.0  # by how much it is slower there
    on_kernels: float = 0.0  # by how much a job slows them down


@quick_record()
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
    asleep_cycles: int = 0  # of the cores, waiting for the DMA, L3 or a job
    issue_cycles: int = 0  # in which cores issue transfers and jobs, and those that do not sleep
    step_starts: list[int] = field(default_factory=list)  # of every step of the program, its waits over


def estimate_program(program: Sequence[Step], layers: int, costs: CostModel) -> Estimate:
    """Run a program of so many layers on paper: the second inference, with the code that the first left behind."""
    cache = CodeCache(costs)
    for name, cold_cycles in code_of(program):
        cache.fetch(name, _lines(costs, name, cold_cycles))
    return _Clock(program, layers, cache, costs).estimate()


def code_of(program: Sequence[Step]) -> Iterator[tuple[str, int | None]]:
    """Code in the order in which a program runs it; kernels with the cycles that all of it takes to fetch."""
    for step in program:
        for wait in step.waits:
            if not isinstance(wait, WaitForL3):
                yield "job_wait" if isinstance(wait, WaitForJob) else "wait", None
        yield "step", None
        agents, kernels = set(), []
        for action in step.actions:
            if isinstance(action, KernelAction):
                kernels.append(action)
                continue
            agent = 0 if isinstance(action, JobAction) else action.agent
            if agent not in agents:
                agents.add(agent)
                yield "issue", None
            if isinstance(action, TransferAction | JobAction):
                yield "submit" if isinstance(action, JobAction) else "transfer", None
        yield from ((kernel.code, kernel.cold_cycles) for kernel in kernels if kernel.code is not None)
    yield "leave", None


def _lines(costs: CostModel, name: str, cold_cycles: int | None) -> float:
    return costs.runtime_lines(name) if cold_cycles is None else costs.kernel_lines(cold_cycles)


class _Clock(StepClock):
    """The clock with code that has to be fetched, and with transfers, jobs and kernels in each other's way."""

    def __init__(self, program: Sequence[Step], layers: int, cache: CodeCache, costs: CostModel) -> None:
        super().__init__()
        self._program, self._layers, self._cache, self._costs = program, layers, cache, costs
        self._open: dict[int, Any] = {}
        self._moving: dict[str, list[_Ongoing]] = {"load": [], "store": []}
        self._jobs: dict[str, list[_Ongoing]] = {}  # of each engine
        self._queues: dict[Any, list[int]] = {}
        self._result = Estimate()
        self._starts: dict[int, int] = {}
        # When each quarter of the cores is free; `now` is that of the first, which gives commands.
        self._quarters = [0] * QUARTERS

    def estimate(self) -> Estimate:
        for step in self._program:
            self._synchronise(step)
            self._result.step_starts.append(self.now)
            self._code("step")
            self.now += self._costs.executor.step
            self._step(step)
        self.wait(max([*self.made.values(), *self._quarters]))
        self._code("leave")
        starts = [self._starts.get(i, self.now) for i in range(self._layers)]
        if starts:
            starts[0] = 0
        ends = [*starts[1:], self.now]
        self._result.layer_cycles = [max(0, end - start) for start, end in zip(starts, ends, strict=True)]
        self._result.cycles = self.now
        return self._result

    def _code(self, name: str, cold_cycles: int | None = None) -> None:
        self.now += self._cache.fetch(name, _lines(self._costs, name, cold_cycles))

    def _synchronise(self, step: Step) -> None:
        costs = self._costs
        for wait in step.waits:
            if isinstance(wait, WaitForL3):
                self._result.asleep_cycles += max(0, self.free_at("l3") - self.now)
                self.wait(self.free_at("l3"))
                self.run(costs.l3_poll_cycles)
                continue
            job = isinstance(wait, WaitForJob)
            key = ("ticket", wait.ticket) if isinstance(wait, WaitForJob) else (wait.agent, wait.group)
            self._code("job_wait" if job else "wait")
            late = max(0, self.made.pop(key, 0) - self.now)
            self._result.asleep_cycles += late
            self.now += late + (costs.job_wake_cycles if job else costs.wake_cycles if late else costs.executor.wait)
        if step.barrier:
            self._meet(quarters(step.team or ALL_CORES))

    def _meet(self, present: int) -> None:
        """Some of the cores wait for each other; the first quarter's time is `now`."""
        self._quarters[0] = self.now
        late = max(self._quarters[n] for n in range(QUARTERS) if present >> n & 1) + self._costs.barrier_cycles
        self._quarters = [late if present >> n & 1 else at for n, at in enumerate(self._quarters)]
        self.now = self._quarters[0]

    def _step(self, step: Step) -> None:
        costs = self._costs
        busy: dict[int, int] = {}
        kernels: list[KernelAction] = []
        began = self.now - costs.executor.step
        for action in step.actions:
            if isinstance(action, KernelAction | JobAction):
                self._starts.setdefault(action.layer, began)
            if isinstance(action, KernelAction):
                kernels.append(action)
                continue
            agent = 0 if isinstance(action, JobAction) else action.agent
            if agent not in busy:
                self._code("issue")
                busy[agent] = costs.executor.issue
            if isinstance(action, TransferAction):
                self._code("transfer")
                issued = self.now + busy[agent] + costs.executor.command
                queue = self._queues.setdefault(agent, [])
                room = costs.commands_in_flight
                if len(queue) >= room:
                    # The core stands still until the DMA takes another command from it.
                    issued = max(issued, sorted(queue)[-room])
                queue.append(self._transfer(action, issued))
                del queue[:-room]
                busy[agent] = issued - self.now
            elif isinstance(action, JobAction):
                self._code("submit")
                # The core stands still until the engine can take another job.
                busy[agent] = max(busy[agent], self.room_at(action.engine, action.queue) - self.now)
                busy[agent] += costs.submit_cycles(action.words)
                self._submit(action, self.now + busy[agent])
            elif isinstance(action, FetchAction):
                busy[agent] += costs.l3_command_cycles
                cycles = costs.l3_cycles(action.writes[0].bytes)
                end = self.submit("l3", cycles, after=self.now + busy[agent])
                self._add("l3", action, action.do, end - cycles, end)
            else:
                self._open[agent] = (agent, action.group)
                busy[agent] += costs.executor.begin
        issuing = max(busy.values(), default=0)
        self._result.issue_cycles += issuing
        self.now += issuing
        for kernel in kernels:
            if kernel.team is not None and not quarters(kernel.team) & 1:
                self._elsewhere(kernel, quarters(kernel.team))
                continue
            start = self.now
            if kernel.code is not None:
                self._code(kernel.code, kernel.cold_cycles)
            self.now += self._cycles_from(self.now, kernel)
            self._add("cores", kernel, kernel.op, start, self.now)
            present = quarters(kernel.team or ALL_CORES)
            self._quarters = [self.now if present >> n & 1 else at for n, at in enumerate(self._quarters)]
            for resource, under_way in (*self._moving.items(), *self._jobs.items()):
                under_way[:] = [one for one in under_way if one.end > start]
                self._slow_down(resource, under_way, [(start, self.now, None)])

    def _elsewhere(self, kernel: KernelAction, present: int) -> None:
        """A kernel of cores that give no commands: it begins when they are free."""
        mine = [n for n in range(QUARTERS) if present >> n & 1]
        start = max(self._quarters[n] for n in mine) + self._costs.executor.step
        end = start + self._cycles_from(start, kernel)
        for number in mine:
            self._quarters[number] = end
        self._add("cores", kernel, kernel.op, start, end)

    def _cycles_from(self, start: int, kernel: KernelAction) -> int:
        """Cycles of a kernel that begins then: it takes longer beside the jobs that are under way."""
        end, jobs = start + kernel.cycles, [job for queue in self._jobs.values() for job in queue]
        beside = ((job, min(job.end, end) - max(job.start, start)) for job in jobs)
        return kernel.cycles + round(sum(job.on_kernels * max(0, together) for job, together in beside))

    def _submit(self, action: JobAction, submitted: int) -> None:
        """A job begins when its engine is free."""
        engine, key, costs = action.engine, ("ticket", action.ticket), self._costs
        end = self.submit(engine, action.cycles, (key,), after=submitted)
        moved = sum(a.bytes for a in (*action.reads, *action.writes) if a.space == "L1")
        share = costs.port_share(engine, moved, action.cycles)
        job = _Ongoing(end - action.cycles, end, key, len(self.ends[engine]) - 1, len(self._result.spans))
        if action.port_cycles is not None:
            share = min(1.0, action.port_cycles / max(1, action.cycles))
            job.beside_kernels = costs.job_beside_kernels(engine, share)
            job.on_kernels = costs.kernel_beside_jobs(engine, share)
        job.beside_transfers = costs.job_contention(engine, share)
        job.on_transfers = costs.transfer_beside_jobs(engine, share)
        self._jobs.setdefault(engine, []).append(job)
        self._add(engine, action, engine, job.start, end)
        moving = [m for queue in self._moving.values() for m in queue if m.end > job.start]
        if moving:
            met = [(m.start, m.end, job.beside_transfers) for m in moving]
            for direction, queue in self._moving.items():
                self._slow_down(direction, queue, [(job.start, end, job.on_transfers)])
            self._slow_down(engine, [job], met)

    def _transfer(self, action: TransferAction, issued: int) -> int:
        direction, outward = action.do, action.do == "store"
        access = (action.writes if outward else action.reads or action.writes)[0]
        size = action.expected_bytes or access.bytes
        line = (1 if action.apart else size) if access.line is None else access.line
        key, cycles = self._open[action.agent], self._costs.move_cycles(size, line, outward=outward)
        end = self.submit(direction, cycles, (key,), after=issued + self._costs.start_cycles(outward=outward))
        place, span = len(self.ends[direction]) - 1, len(self._result.spans)
        moving = _Ongoing(end - cycles, end, key, place, span, beside_kernels=self._costs.contention)
        self._moving[direction].append(moving)
        self._add(direction, action, direction, moving.start, end)
        for engine, jobs in self._jobs.items():
            beside = [job for job in jobs if job.end > moving.start]
            if beside:
                met = [(job.start, job.end, job.on_transfers) for job in beside]
                self._slow_down(engine, beside[-1:], [(moving.start, end, beside[-1].beside_transfers)])
                self._slow_down(direction, [moving], met)
        return moving.end

    def _slow_down(
        self, resource: str, queue: Sequence[_Ongoing], beside: Sequence[tuple[int, int, float | None]]
    ) -> None:
        """Jobs or transfers take longer beside something else, and those behind them in the queue begin later.

        `beside`: from when until when, and by how much; None: as much as beside kernels.
        """
        late = 0.0
        for one in queue:
            start, end = one.start + late, one.end + late
            for begin, over, much in beside:
                first, slower = max(start, begin), one.beside_kernels if much is None else much
                # Either all that is left of it takes so much longer, or the other one is over before.
                late += max(0.0, min(slower * (end - first), slower / (1 + slower) * (over - first)))
            if not late:
                continue
            one.start, one.end = round(start), round(one.end + late)
            self.ends[resource][one.place] = one.end
            if one.key in self.made:
                self.made[one.key] = max(self.made[one.key], one.end)
            span = self._result.spans[one.span]
            self._result.spans[one.span] = BusySpan(span.resource, span.name, span.layer, one.start, one.end)

    def _add(
        self,
        resource: str,
        action: TransferAction | FetchAction | KernelAction | JobAction,
        name: str,
        start: int,
        end: int,
    ) -> None:
        self._result.spans.append(BusySpan(resource, name, action.layer, start, end))
