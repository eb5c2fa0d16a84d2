"""A plan as data: every decision, every place, and the program that carries them out. docs/plan_json.md explains it."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field

from tvm_pulp.planning.program.actions import Step

# First and last position at which something is alive.
Alive = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Planner:
    """How the plan was found, and what the solver says about its own problem; null where it did not run."""

    name: str
    chosen: str
    attempts: int
    status: str | None
    objective_cycles: int | None
    bound_cycles: int | None
    gap: float | None
    deterministic_time: float | None


@dataclass(frozen=True, slots=True)
class PlaceJson:
    """Bytes of a memory that hold one thing for some time."""

    name: str
    offset: int
    bytes: int
    alive: Alive


@dataclass(frozen=True, slots=True)
class L2:
    """The arena of activations, and of constants on their way from L3."""

    size: int
    largest_live_set: int
    tensors: tuple[PlaceJson, ...]


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant tensor, or a cache, and the memory it lives in."""

    name: str
    level: str
    bytes: int


@dataclass(frozen=True, slots=True)
class PieceJson:
    """Part of a constant inside a bundle."""

    content: str
    offset: int
    bytes: int


@dataclass(frozen=True, slots=True)
class BundleJson:
    """Constants that travel to L1 in one command."""

    name: str
    bytes: int
    pieces: tuple[PieceJson, ...]


@dataclass(frozen=True, slots=True)
class Tile:
    """Part of a layer's first output."""

    start: tuple[int, ...]
    size: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OutputJson:
    """A tensor that a layer writes."""

    name: str
    shape: tuple[int, ...]
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerJson:
    """A layer: engine, form, tiles. `two_copies`: of what streams, so that the next tile arrives while one computes;
    `exclusive`: nothing of the next step lies beside it. The file calls them `overlap` and `alone`."""

    name: str
    op: str
    # Of the model file, in their order; of a fused layer, several.
    nodes: tuple[str, ...] = ()
    engine: str
    form: str
    tile: tuple[int, ...]
    tiles: tuple[Tile, ...]
    two_copies: Annotated[bool, Field(alias="overlap")]
    exclusive: Annotated[bool, Field(alias="alone")]
    # Begins while layers before it are under way: a link of a pipeline of tiles.
    joins: bool
    lead: int
    # Records come in so many times as many pages as usual, where that leaves more of L1 to tiles.
    pages: int | None = None
    # The cores that run it, where these are not all: halves are 2 and 3, quarters 4 to 7.
    team: int | None = None
    estimated_cycles: int
    outputs: tuple[OutputJson, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanJson:
    """The whole file. Its records are exact in the names and types of their fields where a file is read."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)

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
    blocks: tuple[PlaceJson, ...]
    constants: tuple[Constant, ...]
    # Caches that stay between calls, by the input that holds their earlier rows.
    state: tuple[Constant, ...]
    bundles: tuple[BundleJson, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    # Layers that find an activation in L1, by its name.
    resident: dict[str, tuple[int, ...]]
    layers: tuple[LayerJson, ...]
    program: tuple[Step, ...]
