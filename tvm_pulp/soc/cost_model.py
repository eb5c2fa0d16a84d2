"""Costs of things on a machine: transfers, steps, jobs, barriers, cache lines. The only place that knows.

Everything follows from the SoC's description and from instructions counted in the runtime: the executor and the drivers
run the same code on every machine of a family, so what varies is how long its accesses take. Planner and estimate ask
here, so that another machine gets another plan.
"""

from dataclasses import dataclass
from functools import cached_property

from tvm_pulp.soc.core_kinds import ExecutorCost
from tvm_pulp.soc.description import Engine, Soc

# Loads and stores of L1 that a core makes per cycle in typical kernels: how often it is in somebody's way.
_L1_ACCESSES_PER_CYCLE = 0.316
# Of the wide accesses of an engine that find a core in one of their banks, those that wait. Fitted to jobs beside
# kernels in networks of the benchmarks.
_LOST_TO_CORES = 0.8
# Of the conflicts between an engine and the DMA, those that the engine wins; fitted to the same.
_WON_FROM_DMA = 0.8
# The machine on which the coefficients of kernels are measured: its cores, banks and cycles until a cache line arrives.
MEASURED_CORES, MEASURED_BANKS, MEASURED_REFILL = 8, 16, 18
# Bytes of code that count as a line here, whatever the lines of a machine.
_CODE_LINE = 16
# Lines of code of the executor and drivers.
_CODE_LINES = {
    "step": 204 / 18,
    "issue": 85 / 18,
    "transfer": 85 / 18,
    "wait": 70 / 18,
    "submit": 320 / 18,
    "job_wait": 100 / 18,
    "leave": 400 / 18,
}
# Of the shared cache's lines these count: some of its sets are full before the others.
_USABLE_LINES = 243 / 256


@dataclass(frozen=True)
class CostModel:
    """Cycles of the cluster's clock on a SoC, for so many cores that take part (0: all it has)."""

    soc: Soc
    team: int = 0

    @property
    def cores(self) -> int:
        """Cores that take part."""
        return self.team or self.soc.cluster.cores

    @property
    def has_teams(self) -> bool:
        """Tell if quarters and halves of the cores can run steps of their own and meet by themselves."""
        cluster = self.soc.cluster
        return cluster.kind.tiles and self.soc.tiles.groups == 4 and self.cores == cluster.cores

    # --- DMA --------------------------------------------------------------------------------------------------

    @cached_property
    def _beat(self) -> tuple[int, int]:
        """Bytes of a beat and of a burst."""
        return self.soc.dma.bytes_per_cycle, self.soc.dma.burst_bytes

    @property
    def dma_bytes_per_cycle(self) -> int:
        """The most that is moved in a cycle: every group of tiles moves its own part."""
        return self.soc.dma.bytes_per_cycle * (self.soc.tiles.groups if self.soc.cluster.kind.tiles else 1)

    def move_cycles(self, size: int, line: int, *, outward: bool) -> int:
        """Beats of one command: none spans two lines; a burst towards L2 costs one cycle more."""
        if not size:
            return 0
        beat, burst = self._beat
        beats, bursts = -(-line // beat), -(-line // burst) if outward else 0
        return size // line * (beats + bursts)

    def start_cycles(self, *, outward: bool) -> int:
        """From a command to its first beat: queued, asked for, moved."""
        return 2 + self.soc.dma.startup + (0 if outward else self.soc.dma.l2_read_latency)

    def transfer_cycles(self, size: int, line: int, *, outward: bool) -> int:
        """One command alone, from enqueueing to the end of the wait for it."""
        return 11 + self.start_cycles(outward=outward) + self.move_cycles(size, line, outward=outward)

    def stream_cycles(self, size: int) -> int:
        """Bytes that arrive in one long run."""
        return size // self.soc.dma.bytes_per_cycle

    @cached_property
    def commands_in_flight(self) -> int:
        """Commands of one core that the DMA takes before it lets the core wait."""
        return self.soc.dma.core_queue + self.soc.dma.global_queue

    @cached_property
    def contention(self) -> float:
        """By how much the DMA is slower while the cores work: a word waits for the access that is in its bank."""
        # Where another core commands it, the DMA wins over all.
        return 0.0 if self.soc.cluster.kind.dma_core else self._bank_share(self.cores)

    def _bank_share(self, cores: int) -> float:
        """Probability that cores use a certain bank of L1 in a cycle."""
        l1 = self.soc.memory.l1
        return min(0.9, cores * _L1_ACCESSES_PER_CYCLE / l1.banks) if l1.conflicts else 0.0

    # --- the executor: instructions of its code, and accesses ---------------------------------------------------

    @cached_property
    def executor(self) -> ExecutorCost:
        """Cycles of the runtime's own code."""
        return self.soc.cluster.kind.executor

    @cached_property
    def barrier_cycles(self) -> int:
        return 5 + self.soc.events.wake

    @cached_property
    def wake_cycles(self) -> int:
        """Waking up from the event of transfers."""
        return self.executor.wake + self.soc.events.wake

    @cached_property
    def turnaround_cycles(self) -> int:
        """Reading back what has just been stored: waiting for the store, a command and its first beat."""
        return self.wake_cycles + self.executor.command + self.start_cycles(outward=False)

    @property
    def l2_access_cycles(self) -> int:
        """A load or store of a core that leaves the cluster."""
        return self.soc.memory.l2.latency

    # --- accelerators -------------------------------------------------------------------------------------------

    @cached_property
    def _driver_state_latency(self) -> int:
        """Of a word that a driver remembers: in L1 where the runtime has room for it there."""
        memory = self.soc.memory
        return (memory.l1 if self.soc.cluster.kind.driver_state == "l1" else memory.l2).latency

    def submit_cycles(self, words: int) -> int:
        """Programming a job: each word is read from L1 and written to a register; the driver counts it."""
        peripheral = self.soc.timing.peripheral
        return 3 * self._driver_state_latency - 13 + words * (2 + peripheral) + peripheral

    @property
    def job_wake_cycles(self) -> int:
        """Waking up from a job's event and looking at the engine's status."""
        return 17 + self._driver_state_latency + self.soc.timing.peripheral + self.soc.events.wake

    def port_share(self, engine: str, l1_bytes: int, cycles: int) -> float:
        """Share of its cycles in which a job that moves so many bytes uses its port to L1."""
        return min(1.0, l1_bytes / (self._access_bytes(engine) * max(1, cycles)))

    def job_contention(self, engine: str, port_share: float) -> float:
        """By how much a job is slower beside a transfer: its wide accesses meet the transfer's words."""
        return (1 - _WON_FROM_DMA) * self._met_by_dma(engine, port_share)

    def transfer_beside_jobs(self, engine: str, port_share: float) -> float:
        """By how much a transfer is slower beside such a job."""
        return _WON_FROM_DMA * self._met_by_dma(engine, port_share)

    def _met_by_dma(self, engine: str, port_share: float) -> float:
        l1 = self.soc.memory.l1
        met = (self._access_bytes(engine) + self.soc.dma.bytes_per_cycle) / (4 * l1.banks)
        return port_share * min(1.0, met) if l1.conflicts else 0.0

    def job_beside_kernels(self, engine: str, port_share: float) -> float:
        """By how much a job is slower beside a kernel: each of its accesses waits for cores in any of its banks."""
        found = 1.0 - (1.0 - self._bank_share(self.cores)) ** (self._access_bytes(engine) / 4)
        waits = port_share * _LOST_TO_CORES * found
        return waits / (1.0 - waits)

    def kernel_beside_jobs(self, engine: str, port_share: float) -> float:
        """By how much a kernel is slower beside a job: accesses of the cores meet the banks that it uses."""
        l1 = self.soc.memory.l1
        met = min(1.0, self._access_bytes(engine) / (4 * l1.banks))
        return _L1_ACCESSES_PER_CYCLE * port_share * met if l1.conflicts else 0.0

    def _access_bytes(self, engine: str) -> int:
        found = self.soc.engines.get(engine)
        return found.access_bytes if found else int(Engine.model_fields["access_bytes"].default)

    def job_queue(self, engine: str) -> int:
        """Jobs that an engine holds: one it works on and those that wait."""
        found = self.soc.engines.get(engine)
        return found.queue if found else 1

    # --- L3 -----------------------------------------------------------------------------------------------------

    @cached_property
    def _clock_ratio(self) -> float:
        return self.soc.clock.cluster_mhz / self.soc.clock.soc_mhz

    @property
    def l3_command_cycles(self) -> int:
        """Programming a transfer: a look at the status and five registers."""
        return 12 + 6 * self.soc.timing.apb

    @property
    def l3_poll_cycles(self) -> int:
        """Looking at the status once more."""
        return 7 + self.soc.timing.apb

    def l3_cycles(self, size: int) -> int:
        """A transfer from L3 to L2, from its command to its end."""
        l3 = self.soc.memory.l3
        setup = 62 + round(l3.read_setup * self._clock_ratio)
        return setup + round(size * l3.read_cycles_per_byte * self._clock_ratio)

    def from_l3_cycles(self, size: int) -> int:
        """Asking for so many bytes of L3 and getting them; nothing where there are none."""
        return self.l3_command_cycles + self.l3_cycles(size) if size else 0

    # --- code ---------------------------------------------------------------------------------------------------

    @cached_property
    def _line_units(self) -> int:
        """Lines as they are counted here in a line of the machine's caches."""
        return self.soc.cluster.kind.code_line_bytes // _CODE_LINE

    @cached_property
    def shared_lines(self) -> float:
        """Lines of code that the cache of all cores holds."""
        lines = self.soc.icache.shared_sets * self.soc.icache.shared_ways * _USABLE_LINES
        return lines * self._line_units

    @cached_property
    def own_lines(self) -> int:
        """Lines of code that a core's own cache holds."""
        return self.soc.icache.private_sets * self.soc.icache.private_ways * self._line_units

    @cached_property
    def refill_cycles(self) -> int:
        """Until a line arrives from L2."""
        if self.soc.icache.ideal:
            return 0
        # A longer line brings more, and with some cores the next one comes along.
        return -(-self.soc.icache.refill // (self._line_units * self.soc.cluster.kind.lines_per_refill))

    @cached_property
    def shared_hit_cycles(self) -> int:
        """Until a line arrives from the shared cache."""
        return 0 if self.soc.icache.ideal else self.soc.icache.shared_hit

    def runtime_lines(self, name: str) -> float:
        """Lines of a part of the executor or of a driver."""
        return _CODE_LINES[name]

    def kernel_lines(self, cold_cycles: int) -> float:
        """Lines of code that took so long to arrive on the machine where kernels are measured."""
        return cold_cycles / MEASURED_REFILL

    # --- cores --------------------------------------------------------------------------------------------------

    @cached_property
    def core_slowdown(self) -> float:
        """Cycles of a core's work here, by those on the machine where kernels are measured: others are in its way."""
        banks = self.soc.cluster.kind.measured_banks
        measured = _wait_for_banks((MEASURED_CORES - 1) * _L1_ACCESSES_PER_CYCLE / banks)
        return (1.0 + _wait_for_banks(self._bank_share(self.cores - 1))) / (1.0 + measured)


def _wait_for_banks(busy: float) -> float:
    """Cycles of waiting per cycle of work where a bank is busy with this probability."""
    return _L1_ACCESSES_PER_CYCLE * busy / (2.0 * (1.0 - busy))
