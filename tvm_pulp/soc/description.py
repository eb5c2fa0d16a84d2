"""The form of a SoC description. Times are cycles of the clock of the block they belong to, sizes are bytes."""

import difflib
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from tvm_pulp.errors import UserError
from tvm_pulp.soc.compiler_flag import CompilerFlag
from tvm_pulp.soc.core_kinds import CoreKind, core_kind
from tvm_pulp.soc.cpu import Cpu
from tvm_pulp.soc.energy_coefficients import Energy
from tvm_pulp.soc.explain_error import explain

# More cores are reported by groups.
_CORES_TOLD_APART = 32


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Clock(_Section):
    """Clock frequencies; the ratio of the first two is what the simulator needs."""

    cluster_mhz: float = Field(default=1.0, gt=0, le=1e6)
    soc_mhz: float = Field(default=1.0, gt=0, le=1e6)
    reference_khz: float = Field(default=32.768, gt=0, le=1e9)


class Isa(_Section):
    """Instructions that a core executes beyond RV32IMC, or beyond RV32IMA where its kind has no compressed code."""

    single_float: bool = False
    xpulp: bool = False


class Cluster(_Section):
    """The cores that compute. `core`: their kind, a file of `core_kinds/`."""

    cores: int = Field(default=1, ge=1, le=256)
    core: str = "ri5cy"
    isa: Isa = Isa()
    # Shared by the cores, core n uses unit n modulo their number; 0: every core has its own.
    float_units: int = Field(default=0, ge=0, le=16)
    float_dividers: int = Field(default=0, ge=0, le=16)

    @field_validator("core")
    @classmethod
    def _check_core(cls, name: str) -> str:
        return core_kind(name).name

    @property
    def kind(self) -> CoreKind:
        """The description of the cores' kind."""
        return core_kind(self.core)


class Controller(_Section):
    """The core that boots the system."""

    hart_id: int = 0x3E0
    isa: Isa = Isa()


class Memory(_Section):
    """One memory: where it is and how long a blocking access of one word takes."""

    base: int = Field(default=0, ge=0, lt=1 << 32)
    size: int = Field(default=0, ge=0)
    latency: int = Field(default=1, ge=1)
    controller_latency: int = Field(default=1, ge=1)
    banks: int = Field(default=1, ge=1, le=1024)
    conflicts: bool = False
    private_bytes: int = Field(default=0, ge=0)


class ExternalMemory(_Section):
    """L3, reached by the I/O DMA only; times in SoC cycles."""

    size: int = Field(default=0, ge=0)
    read_setup: int = Field(default=0, ge=0)
    write_setup: int = Field(default=0, ge=0)
    read_cycles_per_byte: float = Field(default=1.0, gt=0, le=1e6)
    write_cycles_per_byte: float = Field(default=1.0, gt=0, le=1e6)


class Memories(_Section):
    """The memory hierarchy. A size of 0 means the SoC has no such memory."""

    l1: Memory = Memory()
    l2: Memory = Memory()
    weight: Memory = Memory()
    l3: ExternalMemory = ExternalMemory()


class CoreTiming(_Section):
    """Instruction and access costs of one core."""

    mul: int = Field(default=1, ge=1)
    mul_use_stall: int = Field(default=0, ge=0)
    mulh: int = Field(default=5, ge=1)
    divide_base: int = Field(default=3, ge=1)
    # A cycle more for each leading zero of the divisor.
    divide_steps: bool = True
    load_use_stall: int = Field(default=1, ge=0)
    branch_taken_penalty: int = Field(default=2, ge=0)
    jump_penalty: int = Field(default=1, ge=0)
    jump_register_stall: int = Field(default=1, ge=0)
    event_load: int = Field(default=5, ge=1)
    single_float: int = Field(default=1, ge=1)
    float_divide: int = Field(default=14, ge=1)
    float_square_root: int = Field(default=14, ge=1)
    peripheral: int = Field(default=3, ge=1)
    apb: int = Field(default=23, ge=1)
    controller_apb: int = Field(default=9, ge=1)
    rotating_priority: bool = True
    ordering_slack: int = Field(default=0, ge=0, le=64)


class Scoreboard(_Section):
    """Times of cores that go on while results are on their way, counted from an instruction to the first that reads
    its result. Cores that wait for each result have none of this."""

    load: int = Field(default=4, ge=1)
    multiply: int = Field(default=4, ge=1)
    offload: int = Field(default=4, ge=1)
    engine_load: int = Field(default=13, ge=1)
    engine_store_interval: int = Field(default=6, ge=1)
    engine_store_delay: int = Field(default=8, ge=1)
    memory_operations: int = Field(default=4, ge=1, le=8)
    atomic_extra: int = Field(default=2, ge=0)
    barrier_exit: int = Field(default=2, ge=2)
    next_line: int = Field(default=4, ge=0)
    jump_line: int = Field(default=8, ge=0)
    dma_next: int = Field(default=6, ge=0)
    dma_row: int = Field(default=1, ge=0)
    boot: int = Field(default=174, ge=0)


class Tiles(_Section):
    """Tiles of cores with banks of L1 and a cache of code, in groups; only a kind of cores with `tiles` has them.

    Latencies are cycles until the answer to an access of another tile, in the same and in another group. The first
    `sequential_bytes` of L1 per core lie in the core's own tile one after the other, the rest goes round all tiles.
    `wake_masks`: registers that wake the cores of some tiles or groups. `code_*`: the cache of code that a group
    shares; its lines are twice as long as those of a tile.
    """

    cores: int = Field(default=4, ge=1, le=16)
    banks: int = Field(default=16, ge=1, le=64)
    groups: int = Field(default=4, ge=1, le=8)
    group_latency: int = Field(default=3, ge=1, le=15)
    cluster_latency: int = Field(default=5, ge=1, le=15)
    sequential_bytes: int = Field(default=512, ge=64)
    wake_masks: bool = True
    code_sets: int = Field(default=64, ge=1)
    code_ways: int = Field(default=2, ge=1)
    code_refill: int = Field(default=20, ge=0)


class InstructionCache(_Section):
    """Two levels for the cluster, one for the controller; the kind of cores says how long a line is."""

    ideal: bool = False
    private_sets: int = Field(default=8, ge=1)
    private_ways: int = Field(default=4, ge=1)
    shared_sets: int = Field(default=64, ge=1)
    shared_ways: int = Field(default=4, ge=1)
    shared_banks: int = Field(default=8, ge=1)
    shared_hit: int = Field(default=2, ge=0)
    refill: int = Field(default=18, ge=0)
    disabled: int = Field(default=14, ge=0)
    controller_sets: int = Field(default=32, ge=1)
    controller_ways: int = Field(default=4, ge=1)
    controller_refill: int = Field(default=5, ge=0)
    controller_enabled: bool = True


class Events(_Section):
    """Event unit."""

    wake: int = Field(default=5, ge=1)
    answer: int = Field(default=3, ge=1)
    software_delay: int = Field(default=1, ge=0)


class Dma(_Section):
    """Cluster DMA between L1 and everything outside it."""

    bytes_per_cycle: int = Field(default=8, ge=4, le=64)
    startup: int = Field(default=1, ge=1)
    burst_bytes: int = Field(default=256, ge=4)
    l2_read_latency: int = Field(default=0, ge=0)
    core_queue: int = Field(default=2, ge=1, le=16)
    global_queue: int = Field(default=8, ge=1, le=64)
    counters: int = Field(default=16, ge=1, le=16)


class Engine(_Section):
    """An accelerator: where its registers are, which event line it pulses, what its model is told.

    With `bank_port` its L1 accesses take part in bank conflicts, where the SoC has them and its model walks through
    them; without, they are free.
    `queue`: jobs that it holds, one it works on and those that wait. `access_bytes`: of one access to L1.
    """

    base: int = Field(ge=0, lt=1 << 32)
    event_line: int = Field(ge=0, le=31)
    bank_port: bool = True
    queue: int = Field(default=2, ge=1)
    access_bytes: int = Field(default=32, ge=4)
    parameters: dict[str, int] = {}


class Software(_Section):
    """Parts of programs for the SoC, and limits that they respect.

    `hal`: folder of c_runtime/hal. `firmware`: folder of c_runtime/firmware, the same by calls of an SDK, that archives
    carry beside it; none: no SDK. `kernels`: folder of c_runtime/kernels; none: generated C only. `core_type`: whose
    coefficients the costs of kernels are made of. `dma_agents`: cores that issue transfers, core 0 or the first four.
    `dma_largest`: bytes of one command. `dma_lines`: whether a command can move lines that lie apart outside L1.
    `flags`: more flags for the compiler. `runtime_l1_bytes`: L1 behind the stacks that the runtime keeps.
    `code_bytes`: L2 that code and small data are expected to need.
    `weight_parts`: names and sizes of the weight memory's parts, from its base on: levels where constants can live.
    """

    hal: str = ""
    firmware: str = ""
    kernels: str = ""
    core_type: str = ""
    flags: tuple[CompilerFlag, ...] = ()
    stack_bytes: int = Field(default=2048, ge=256, multiple_of=64)
    runtime_l1_bytes: int = Field(default=0, ge=0, multiple_of=64)
    code_bytes: int = Field(default=192 * 1024, ge=0)
    dma_agents: Literal[1, 4] = 1
    dma_largest: int = Field(default=0x1FF00, ge=256, multiple_of=256)
    dma_lines: bool = True
    weight_parts: dict[str, int] = {}


class Area(_Section):
    """Square millimetres of silicon, for comparing variants; None where nothing is known.

    `source`: where the figures come from, and which are assumed. `fixed`: what no parameter changes. `engines`: by
    engine the terms that add up, each a product of parameters and what one unit takes: {"pe_rows*pe_columns": 0.01}.
    """

    source: str = ""
    core: float | None = Field(default=None, ge=0)
    l1_kib: float | None = Field(default=None, ge=0)
    l2_kib: float | None = Field(default=None, ge=0)
    weight_kib: float | None = Field(default=None, ge=0)
    dma_byte_per_cycle: float | None = Field(default=None, ge=0)
    fixed: float | None = Field(default=None, ge=0)
    engines: dict[str, dict[str, float]] = {}


class Soc(_Section):
    """One system. `simulated` is false where nothing is planned and emitted C runs layer by layer: on this machine, or
    on the core that `cpu` describes."""

    name: str
    description: str = ""
    simulated: bool = True
    clock: Clock = Clock()
    cluster: Cluster = Cluster()
    controller: Controller = Controller()
    memory: Memories = Memories()
    timing: CoreTiming = CoreTiming()
    scoreboard: Scoreboard = Scoreboard()
    tiles: Tiles = Tiles()
    icache: InstructionCache = InstructionCache()
    events: Events = Events()
    dma: Dma = Dma()
    engines: dict[str, Engine] = {}
    software: Software = Software()
    energy: Energy = Energy()
    area: Area = Area()
    cpu: Cpu | None = None

    @model_validator(mode="after")
    def _check(self) -> "Soc":
        if self.simulated and not (self.memory.l1.size and self.memory.l2.size):
            raise ValueError("a simulated SoC needs memory.l1.size and memory.l2.size")
        if self.simulated and self.cpu is not None:
            raise ValueError("a SoC with a cpu has nothing to simulate: set simulated to false")
        if self.memory.l1.latency != 1:
            raise ValueError("memory.l1.latency is 1: the cores' pipeline has no other")
        if self.memory.l1.conflicts and self.timing.ordering_slack:
            raise ValueError(
                "bank conflicts need exact order: set timing.ordering_slack=0 or memory.l1.conflicts=false"
            )
        for name, number, most in (
            ("cluster.cores", self.cluster.cores, 16),
            ("memory.l1.banks", self.memory.l1.banks, 64),
        ):
            if not self.cluster.kind.tiles and number > most:
                raise ValueError(f"{name} is at most {most}: more need a kind of core that stands in tiles")
        if self.cluster.kind.tiles and self.cluster.cores % (self.tiles.cores * self.tiles.groups):
            raise ValueError(
                f"cluster.cores fill tiles, the same number in each group: choose a multiple of "
                f"{self.tiles.cores * self.tiles.groups}"
            )
        if self.cluster.kind.tiles and self.software.runtime_l1_bytes < 4 * self.memory.l1.banks + 512:
            raise ValueError(
                f"software.runtime_l1_bytes is at least {4 * self.memory.l1.banks + 512}: a line of every tile for "
                "barriers, and transfers that wait"
            )
        if self.cluster.kind.dma_core and (self.memory.weight.size or self.memory.l3.size):
            raise ValueError("a cluster with a DMA core has no weight memory and no L3: set their sizes to 0")
        if self.cluster.kind.bare and (self.cluster.cores != 1 or self.memory.weight.size or self.memory.l3.size):
            raise ValueError("a core by itself is one core without weight memory and L3: set their sizes to 0")
        for name in ("l1", "weight"):
            if getattr(self.memory, name).private_bytes:
                raise ValueError(f"memory.{name} has no private part: only L2 has")
        if self.memory.weight.banks != 1 or self.memory.weight.conflicts:
            raise ValueError("banks of the weight memory are not modelled: leave memory.weight.banks at 1")
        if sum(self.software.weight_parts.values()) > self.memory.weight.size:
            raise ValueError("software.weight_parts are larger than memory.weight.size together")
        return self

    @property
    def harts(self) -> int:
        """Cores that run programs and need a stack in L1: those that compute, and one that only commands."""
        return self.cluster.cores + self.cluster.kind.dma_core

    @property
    def stacks(self) -> int:
        """Places for stacks in L1: one of every core; tiles without cores have them, too."""
        tiles = self.tiles
        return self.memory.l1.banks // tiles.banks * tiles.cores if self.cluster.kind.tiles else self.harts

    @property
    def all_cores(self) -> int:
        """Cores that there are: those that compute and, behind them, a controller or DMA core unless it is bare."""
        return self.cluster.cores + (self.cluster.kind.controller or self.cluster.kind.dma_core)

    def core_name(self, index: int) -> str:
        """The name of the core with a number: the one behind those that compute has a role of its own."""
        if index < self.cluster.cores:
            return f"core {index}"
        return "DMA core" if self.cluster.kind.dma_core else "controller"

    def core_group(self, index: int) -> str:
        """The cores of a core's group of tiles, where there are too many cores to be told apart; else nothing."""
        if not self.cluster.kind.tiles or self.cluster.cores <= _CORES_TOLD_APART:
            return ""
        each = self.cluster.cores // self.tiles.groups
        first = index // each * each
        return f"cores {first}-{first + each - 1}"

    def with_settings(self, settings: Mapping[str, object]) -> "Soc":
        """A copy with the values at dotted paths replaced: `{"memory.l1.conflicts": False}`."""
        content = self.model_dump()
        for path, value in settings.items():
            _replace(content, path, value)
        try:
            return Soc.model_validate(content)
        except ValidationError as error:
            raise UserError(f"setting of SoC {self.name}: {explain(error)}") from None


def setting_names(content: Mapping[str, Any], prefix: str = "") -> list[str]:
    """Every dotted path that `with_settings` accepts."""
    found: list[str] = []
    for key, value in content.items():
        found += setting_names(value, f"{prefix}{key}.") if isinstance(value, dict) else [f"{prefix}{key}"]
    return found


def _replace(content: dict[str, Any], path: str, value: object) -> None:
    *parents, last = path.split(".")
    place: Any = content
    for key in parents:
        place = place.get(key) if isinstance(place, dict) else None
    # engine parameters are open: the model checks them
    is_open = len(parents) == 3 and parents[0] == "engines" and parents[2] == "parameters"
    if not isinstance(place, dict) or (last not in place and not is_open) or isinstance(place.get(last), dict):
        known = setting_names(content)
        by_last_word = [name for name in known if name.split(".")[-1] == last]
        close = by_last_word or difflib.get_close_matches(path, known, n=3, cutoff=0.4)
        hint = f"close matches: {', '.join(close[:3])}" if close else "see the SoC description for the settings it has"
        raise UserError(f"unknown setting '{path}': {hint}")
    place[last] = value
