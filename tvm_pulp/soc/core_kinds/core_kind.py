"""A kind of cores as generic stages know it. A new kind is a file here, and kernels if it has any."""

from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from tvm_pulp.soc.yaml_text import read_text

Architecture = Literal["rv32imc", "rv32imfc", "rv32ima"]


class ExecutorCost(BaseModel):
    """Cycles of the runtime's own code: instructions, and accesses that find their bank free."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    # A step besides its function: reading the record, the call, the loop.
    step: int
    # Waiting for transfers that are over already.
    wait: int
    # Waking up from the event of transfers, beside what the event unit takes.
    wake: int
    # Finding that there are commands to write.
    issue: int
    # Taking a counter for a group of transfers.
    begin: int
    # Writing one command.
    command: int


class CoreKind(BaseModel):
    """A kind of cores, and with it the structure of the cluster they stand in.

    `controller`: a core outside boots the system and starts them; its stack lies in the private part of L2.
    `dma_core`: a core beside them, with the number behind theirs, alone issues transfers and jobs and computes nothing;
    there is no controller then, all cores start together.
    `bare`: one core and nothing around it, no controller and no DMA; it copies by itself and speaks to the host by
    semihosting.
    `tiles`: they stand in tiles and groups around one L1, start together, and registers wake those that sleep; the
    SoC's `tiles` says how many and how far.
    `scoreboard`: they go on while results are on their way; the SoC's `scoreboard` says for how long.
    `hal`: the runtime that is for this kind alone; none: any that no other kind claims.
    `driver_state`: the memory in which drivers of engines remember what they wrote.
    `engine_registers`: where engines' registers may lie, ranges from the start of L1; none: wherever no memory is.
    `engine_events`: lines by which engines wake cores that sleep; none: cores look at an engine's status again.
    `lines_per_refill`: lines of code that arrive together from L2.
    `measured_banks`: banks of L1 of the machine on which costs of kernels were measured.
    `peak_macs_per_cycle`: products that no kernel exceeds on one core, loads in between.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    description: str
    controller: bool = False
    dma_core: bool = False
    bare: bool = False
    scoreboard: bool = False
    tiles: bool = False
    hal: str | None = None
    architecture: Architecture
    float_architecture: Architecture
    driver_state: Literal["l1", "l2"]
    engine_registers: tuple[tuple[int, int], ...] = ()
    engine_events: tuple[int, ...] = ()
    code_line_bytes: int = Field(default=16, ge=4)
    lines_per_refill: int = Field(default=1, ge=1)
    measured_banks: int = Field(default=16, ge=1)
    peak_macs_per_cycle: float = Field(default=1.0, gt=0)
    executor: ExecutorCost


@cache
def core_kinds() -> dict[str, CoreKind]:
    """Every kind by its name, which is that of its file."""
    files = sorted(Path(__file__).parent.glob("*.yaml"))
    return {f.stem: CoreKind(name=f.stem, **read_text(f.read_text(encoding="utf-8"))) for f in files}


def core_kind(name: str) -> CoreKind:
    """The kind with a name; a value error says which there are."""
    if name not in core_kinds():
        raise ValueError(f"no kind of cores: choose one of {', '.join(core_kinds())}")
    return core_kinds()[name]


def hal_kind(hal: str) -> CoreKind | None:
    """The kind that a runtime is for alone; None where it names none."""
    return next((kind for kind in core_kinds().values() if kind.hal == hal), None)
