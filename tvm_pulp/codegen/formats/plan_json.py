"""`plan.json`: every decision of a plan and the program that carries them out. docs/plan_json.md explains it.

Verifier, estimate, pictures and `--plan` read this and nothing else of a plan.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from tvm_pulp.codegen.formats.schema import Schema

# First and last position at which something is alive.
Alive = Annotated[list[int], Field(min_length=2, max_length=2)]


class Planner(Schema):
    """How the plan was found, and what the solver says about its own problem; null where it did not run."""

    name: str
    chosen: str
    attempts: int
    status: str | None
    objective_cycles: int | None
    bound_cycles: int | None
    gap: float | None
    deterministic_time: float | None


class Place(Schema):
    """Bytes of a memory that hold one thing for some time."""

    name: str
    offset: int
    bytes: int
    alive: Alive


class L2(Schema):
    """The arena of activations, and of constants on their way from L3."""

    size: int
    largest_live_set: int
    tensors: list[Place]


class Constant(Schema):
    """A constant tensor and the memory it lives in."""

    name: str
    level: str
    bytes: int


class Piece(Schema):
    """Part of a constant inside a bundle."""

    content: str
    offset: int
    bytes: int


class Bundle(Schema):
    """Constants that travel to L1 in one command."""

    name: str
    bytes: int
    pieces: list[Piece]


class Tile(Schema):
    """Part of a layer's first output."""

    start: list[int]
    size: list[int]


class Output(Schema):
    """A tensor that a layer writes."""

    name: str
    shape: list[int]
    bytes: int


class Layer(Schema):
    """A layer: engine, form, tiles, and how its transfers overlap."""

    name: str
    op: str
    # Of the model file, in their order; of a fused layer, several.
    nodes: list[str] = Field(default_factory=list)
    engine: str
    form: str
    tile: list[int]
    tiles: list[Tile]
    overlap: bool
    alone: bool
    lead: int
    estimated_cycles: int
    outputs: list[Output]


class Access(Schema):
    """Bytes that an action reads or writes: one run, or lines a stride apart, and what they hold."""

    space: str
    start: int
    bytes: int
    content: str
    from_: int = Field(alias="from")
    # Bytes that may be touched behind `start`: engines move whole beats.
    reach: int | None = None
    line: int | None = None
    stride: int | None = None

    @model_validator(mode="after")
    def _lines_have_a_stride(self) -> Access:
        if (self.line is None) != (self.stride is None):
            raise ValueError("line and stride go together")
        return self


class Begin(Schema):
    """A core opens a group of transfers."""

    do: Literal["begin"]
    agent: int
    group: int


class Transfer(Schema):
    """One command of the cluster's DMA, in the open group of its core."""

    do: Literal["load", "store"]
    layer: int
    tile: int
    agent: int
    ahead: bool
    reads: list[Access]
    writes: list[Access]


class Fetch(Schema):
    """A constant from L3 to L2."""

    do: Literal["fetch"]
    layer: int
    agent: int
    reads: list[Access]
    writes: list[Access]


class Kernel(Schema):
    """A function on all cores. `cold_cycles`: what fetching its `code` takes."""

    do: Literal["kernel"]
    layer: int
    tile: int
    op: str
    cycles: int
    cold_cycles: int | None = None
    code: str | None = None
    descriptor: Access
    reads: list[Access]
    writes: list[Access]


class Job(Schema):
    """A job of an accelerator, waited for by its ticket."""

    do: Literal["job"]
    layer: int
    tile: int
    engine: str
    ticket: int
    queue: int
    words: int
    cycles: int
    descriptor: Access
    reads: list[Access]
    writes: list[Access]


Action = Annotated[Begin | Transfer | Fetch | Kernel | Job, Field(discriminator="do")]


class WaitForTransfers(Schema):
    """Until a group of a core's transfers is over."""

    agent: int
    group: int


class WaitForJob(Schema):
    """Until the job with this ticket is over."""

    agent: int
    ticket: int


class WaitForL3(Schema):
    """Until the I/O DMA has nothing left to do."""

    agent: int
    l3: Literal[True]


class Page(Schema):
    """Where the record of a step is read from."""

    bundle: str
    offset: int
    bytes: int


class Step(Schema):
    """Waits, then a barrier, then actions. The position is null behind the last record."""

    position: int | None
    waits: list[WaitForTransfers | WaitForJob | WaitForL3]
    barrier: bool
    page: Page | None = None
    actions: list[Action]


class PlanJson(Schema):
    """The whole file."""

    soc: str
    cores: int
    l1_bytes: int
    l1_peak: int
    double_buffer: bool
    l3_batch: int
    bundle_bytes: int
    interleave: bool
    planner: Planner | None
    l2: L2
    blocks: list[Place]
    constants: list[Constant]
    state: list[Constant]
    bundles: list[Bundle]
    inputs: list[str]
    outputs: list[str]
    resident: dict[str, list[int]]
    layers: list[Layer]
    program: list[Step]
