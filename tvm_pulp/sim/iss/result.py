"""Figures and faults of a run of the simulator."""

from dataclasses import dataclass
from typing import Any

from tvm_pulp.errors import GuestFault


@dataclass(frozen=True)
class Peripheral:
    """Cumulative counters of one accelerator."""

    name: str
    jobs: int
    busy_cycles: int
    macs: int
    l1_bytes: int
    weight_bytes: int


@dataclass(frozen=True)
class RunResult:
    """Outcome of one run. `cores` holds the cluster cores in order, then the one behind them if there is one, as
    counters by name."""

    exit_code: int
    cycles: int
    instructions: int
    stdout: str
    cores: tuple[dict[str, int], ...]
    dma: dict[str, int]
    l3: dict[str, int]
    peripherals: tuple[Peripheral, ...]
    races: int
    engine_conflict_cycles: int
    first_race: str | None
    host_seconds: float
    core_names: tuple[str, ...] = ()
    """Names of those of `cores`."""

    @property
    def mips(self) -> float:
        """Simulated instructions per host microsecond."""
        return self.instructions / self.host_seconds / 1e6 if self.host_seconds else 0.0

    def report(self) -> dict[str, Any]:
        """The run as plain data, ready for JSON."""
        return {
            "exit_code": self.exit_code,
            "cycles": self.cycles,
            "instructions": self.instructions,
            "cores": [
                {"name": name, **_breakdown(counters)}
                for name, counters in zip(self.core_names, self.cores, strict=True)
            ],
            "dma": self.dma,
            "l3": self.l3,
            "accelerators": [vars(peripheral) for peripheral in self.peripherals],
            "engine_conflict_cycles": self.engine_conflict_cycles,
            "races": {"count": self.races, "first": self.first_race},
            "host": {"simulate_s": self.host_seconds, "mips": self.mips},
        }


def _breakdown(counters: dict[str, int]) -> dict[str, Any]:
    """Causes of a core's cycles; the parts add up to `cycles`."""
    external = counters["external_load_cycles"] + counters["external_store_cycles"] + counters["misaligned"]
    return {
        "cycles": counters["cycles"],
        "instructions": counters["instructions"],
        "breakdown": {
            "issue": counters["instructions"],
            "load_use": counters["load_use"],
            "l1_conflict": counters["l1_conflict"],
            "external_access": external + counters["blocked"],
            "instruction_cache": counters["icache"],
            "branch_and_jump": counters["branch_penalty"] + counters["jump_penalty"] + counters["jump_register"],
            "multiply_and_divide": counters["multiply_divide"],
            "event_wait": counters["event_load"] + counters["asleep"],
        },
        "loads": counters["loads"],
        "stores": counters["stores"],
        "branches": counters["branches"],
        "taken_branches": counters["taken_branches"],
        "jumps": counters["jumps"],
    }


class RunFault(GuestFault):
    """A guest fault together with what the run had counted and printed by then."""

    def __init__(self, message: str, result: RunResult) -> None:
        super().__init__(message)
        self.result = result

    @property
    def exceeded_limit(self) -> bool:
        """Tell if nothing but the limit of cycles ended the run."""
        return str(self).startswith("the run exceeded its limit")
