"""The plan of a network for a CPU by itself as data. docs/plan_json.md explains it.

Time is counted in moments: steps that threads may run at the same time have the same one.
"""

from dataclasses import dataclass
from typing import ClassVar

from pydantic import ConfigDict

from tvm_pulp.planning.program.plan_record import PlaceJson


@dataclass(frozen=True, slots=True)
class Strips:
    """Layers from `first` to `last` run `count` times, each time for some rows of the last one's result."""

    first: str
    last: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuLayer:
    """A layer of the network, and how it is computed. `parts`: of rows, which threads share."""

    name: str
    op: str
    nodes: tuple[str, ...] = ()
    form: str
    parts: int = 1


@dataclass(frozen=True, slots=True)
class Held:
    """A tensor of the arena, and the buffer that its bytes are part of."""

    name: str
    buffer: str
    offset: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Sized:
    """A tensor outside the arena."""

    name: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Touch:
    """Bytes of a tensor that a function reads or writes."""

    tensor: str
    start: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuStep:
    """The call of a layer's function, or that of a part of it. `work`: memory that it works in.

    `overwrites`: tensors that it has read before it writes what lies there.
    """

    name: str
    layer: str
    moment: int
    macs: int = 0
    reads: tuple[Touch, ...]
    writes: tuple[Touch, ...]
    work: tuple[Touch, ...]
    overwrites: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuPlanJson:
    """The whole file. `layers`, `strips` and `threads` are decisions, all else follows from them."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)

    soc: str
    ram_limit: int | None
    flash_limit: int | None
    threads: bool
    strips: Strips | None
    layers: tuple[CpuLayer, ...]
    arena_bytes: int
    largest_live_set: int
    buffers: tuple[PlaceJson, ...]
    tensors: tuple[Held, ...]
    constants: tuple[Sized, ...]
    inputs: tuple[Sized, ...]
    outputs: tuple[Sized, ...]
    program: tuple[CpuStep, ...]
