"""Part of the verifier: transfers, jobs and kernels that may be under way together never touch the same bytes."""

from tvm_pulp.planning.program.actions import Begin, FetchAction, JobAction, KernelAction, Step, TransferAction, read_by
from tvm_pulp.planning.program.executor_limits import GROUPS_OF_AGENT, TICKETS
from tvm_pulp.planning.program.under_way import NO_AGENT, Started, Touched, UnderWay
from tvm_pulp.uma.teams import ALL_CORES


class Races:
    """Whatever may be under way. `counters`: those of the DMA, one for every group of transfers."""

    def __init__(self, counters: int) -> None:
        self._counters = counters
        self._under_way = UnderWay()
        self._open: dict[int, int] = {}  # the group of each agent

    def synchronise(self, where: str, step: Step) -> list[str]:
        waited = [(wait, self._under_way.wait(wait)) for wait in step.waits]
        if step.barrier:
            self._under_way.meet(step.team or ALL_CORES)
        return [f"{where}: a wait for {wait} which is not under way" for wait, found in waited if not found]

    def step(self, where: str, step: Step) -> list[str]:
        faults: list[str] = []
        if step.page is not None:
            record = Started("record", NO_AGENT, Touched((step.page.access,), ()))
            faults += self._clash(where, "the record's read", record)
            # Cores that have not met may still be there.
            self._under_way.started.append(record)
        for action in step.actions:
            faults += self._open_group(where, action) if isinstance(action, Begin) else self._start(where, action)
        groups = {(s.agent, s.number) for s in self._under_way.running("transfer")}
        if len(groups) > self._counters:
            faults.append(
                f"{where}: {len(groups)} groups of transfers under way, the DMA has {self._counters} counters"
            )
        return faults

    def _open_group(self, where: str, begin: Begin) -> list[str]:
        self._open[begin.agent] = begin.group
        if not 0 <= begin.group < GROUPS_OF_AGENT:
            return [f"{where}: there is no group {begin.group} of transfers"]
        if any((s.agent, s.number) == (begin.agent, begin.group) for s in self._under_way.running("transfer")):
            return [f"{where}: group {begin.group} of core {begin.agent} is still under way"]
        return []

    def _start(self, where: str, action: TransferAction | FetchAction | KernelAction | JobAction) -> list[str]:
        faults = self._clash(where, action.do, Started.by(action, read_by(action)))
        new = Started.by(action, action.reads if isinstance(action, JobAction) else read_by(action))
        if isinstance(action, TransferAction):
            new.number = self._open.get(action.agent, -1)
        if isinstance(action, JobAction):
            if not 0 <= action.ticket < TICKETS:
                faults.append(f"{where}: there is no ticket {action.ticket}")
            self._under_way.make_room(action.engine, action.queue)
            if any(s.number == action.ticket for s in self._under_way.running("job")):
                faults.append(f"{where}: ticket {action.ticket} belongs to a job that may be under way")
            # A core reads the descriptor to submit the job, and is done with it when the cores meet again.
            self._under_way.started.append(Started("kernel", 0, Touched((action.descriptor,), ())))
        self._under_way.started.append(new)
        return faults

    def _clash(self, where: str, who: str, new: Started) -> list[str]:
        for running, access in self._under_way.clashes(new):
            place = f"{access.space} byte {access.start}"
            return [f"{where}: {who} touches {place} while a {running.kind} may use it"]
        return []

    def end(self) -> list[str]:
        started = [s for s in self._under_way.started if s.kind != "record"]
        left = [s for s in started if s.kind != "kernel" and not s.is_known]
        if left:
            return [f"{len(left)} transfers or jobs are never waited for"]
        missing = "the last barrier is missing: cores may still compute when the network returns"
        return [missing] if started else []
