"""`report.json`: what a run cost. A figure that is not known is null, never zero. docs/report_json.md explains it."""

from pydantic import Field

from tvm_pulp.codegen.formats.schema import Schema
from tvm_pulp.planning.program.plan_record import Planner

# Engine -> cause -> cycles; a cause that is not told apart from others is null.
Causes = dict[str, dict[str, int | None]]


class ReportLayer(Schema):
    """A layer's share."""

    name: str
    op: str
    # Of the model file, in their order; of a fused layer, several.
    nodes: list[str] = Field(default_factory=list)
    engine: str
    form: str | None = None
    cycles: int | None
    instructions: int | None = None
    estimated_cycles: int | None
    bound_cycles: int | None
    macs: int
    dma_bytes: int | None
    dma_busy_cycles: int | None
    dma_stall_cycles: int | None
    tiles: int | None
    deviation_lsb: int | float
    busy_cycles: int | None = None
    bound_share: float | None = None
    macs_per_cycle: float | None = None
    causes: Causes | None = None


class ReportEnd(Schema):
    """An input or output; scale and zero point are those of integers that stand for real values (`--io`)."""

    name: str
    shape: list[int]
    dtype: str
    scale: float | None = None
    zero_point: int | None = None


class ReportDma(Schema):
    """Cycles in which the DMA works, in which everything waits for it, and the share that is hidden behind work."""

    busy_cycles: int
    stall_cycles: int
    hidden_share: float | None


class EnergyModel(Schema):
    """Sources of the energy: coefficients, their relative spreads, and what each term adds."""

    source: str
    coefficients_pj: dict[str, float | None]
    spreads: dict[str, float] = Field(default_factory=dict)
    common_spread: float = 0.0
    terms_uj: dict[str, float]


class ReportMemory(Schema):
    """Bytes used at most, of how many; of an arena also the most that is alive at once."""

    peak: int
    capacity: int | None = None
    largest_live_set: int | None = None


class Host(Schema):
    """Seconds on the machine that compiled and simulated."""

    compile_s: float | None
    build_s: float | None
    simulate_s: float | None
    mips: float | None
    solver_s: float | None = None


class Latency(Schema):
    """Milliseconds of an inference on this machine."""

    best: float
    median: float
    runs: int


class Footprint(Schema):
    """The needs of the program: bytes, and the time and energy that were expected of it; None is not known.

    `code` and `constants` lie in flash. `ram` is by memory, with all that the program puts there: code and constants
    too where it runs from RAM, and `stacks` in L1. Work and time of a language model are those of one `token`.
    """

    code: int | None
    constants: int
    ram: dict[str, int]
    capacity: dict[str, int]
    stacks: int | None
    macs: int
    token: bool = False
    cycles: int | None = None
    clock_mhz: float | None = None
    milliseconds: float | None = None
    energy_uj: float | None = None
    energy_spread: float | None = None


class ReportJson(Schema):
    """The whole file."""

    soc: str
    target: str
    cores: int | None = None
    device: str | None = None
    device_revision: str | None = None
    cycles: int | None
    cold_cycles: int | None = None
    instructions: int | None
    macs: int
    macs_per_cycle: float | None
    estimated_cycles: int | None
    bound_cycles: int | None
    dma: ReportDma | None
    energy_uj: float | None
    energy_spread: float | None = None
    energy_model: EnergyModel | None
    memory: dict[str, ReportMemory]
    code_bytes: int | None
    layers: list[ReportLayer]
    host: Host
    inputs: list[ReportEnd]
    outputs: list[ReportEnd]
    planner: Planner | None = None
    causes: Causes | None = None
    latency_ms: Latency | None = None
    # Of the device, by its clock.
    milliseconds: float | None = None
    footprint: Footprint | None = None
