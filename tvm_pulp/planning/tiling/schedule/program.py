"""The program of a network while it is planned: compute steps in order, what moves beside them, and blocks of L1.

Every pass of `build_program` takes a program and returns it with one more decision in it. A move has a position
(`planning.program.positions`): one at that of a compute step runs while it computes. The program is correct if executed
strictly in order; `tir.synchronise` makes asynchronous execution equal to that.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tvm_pulp.planning.program.positions import BOOT, compute_position, store_position
from tvm_pulp.planning.tiling.schedule.choice import Choice
from tvm_pulp.planning.tiling.schedule.decisions import Policy
from tvm_pulp.planning.tiling.schedule.step_order import StepOrder
from tvm_pulp.qnn.network import Network, Tensor
from tvm_pulp.quick_records import quick_record
from tvm_pulp.uma.box import Box, Transfer
from tvm_pulp.uma.contiguous import box_bytes
from tvm_pulp.uma.recipe import Call, Job, Kernel, Load, Local, Store

_NO_ORDER = StepOrder((), Policy())


@dataclass(eq=False)
class Block:
    """Bytes of L1 that hold one thing from position `first` to position `last`, both included."""

    name: str
    bytes: int
    # From `keep_alive` on.
    first: int = sys.maxsize
    last: int = -1
    layer: int = 0  # that asked for it
    offset: int = -1
    # A job is expected to use the bytes until then: whoever takes them waits for it, which is no fault, but cycles.
    expected_until: int = 0
    # Slots that need it although it is no operand of theirs.
    slots: list[int] = field(default_factory=list)
    # Of records: the last slot that they tell of.
    tells_until: int = -1

    def extend(self, position: int) -> None:
        if position < self.first:
            self.first = position
        if position > self.last:
            self.last = position

    def expect_use(self, position: int) -> None:
        if position > self.expected_until:
            self.expected_until = position


@quick_record()
class Place:
    """The place of a recipe's buffer."""

    block: Block
    offset: int = 0

    @property
    def address(self) -> int:
        return self.block.offset + self.offset


@quick_record()
class Piece:
    """Part of a constant inside a bundle."""

    tensor: Tensor
    box: Box
    offset: int

    @property
    def bytes(self) -> int:
        return box_bytes(self.tensor, self.box)


@dataclass(eq=False)
class Bundle:
    """Constants that travel to L1 together in one command: step records, descriptors, parts of tensors."""

    number: int
    layer: int
    pieces: list[Piece] = field(default_factory=list)
    # Offsets of the descriptors of compute steps, by slot.
    descriptors: dict[int, int] = field(default_factory=dict)
    record_bytes: int = 0  # room for the records at offset 0
    bytes: int = 0
    slack: int = 0  # bytes behind it that engines may touch
    level: str = "l2"  # where it lies
    # Numbers of pieces by their parts of tensors; buffers of layers that are pieces in a block, by their numbers: they
    # get their places when the bundle is laid out.
    numbers: dict[tuple[Tensor, Box], int] = field(default_factory=dict, repr=False)
    held: list[tuple[dict[Local, Place], Local, Block, int]] = field(default_factory=list, repr=False)

    @property
    def name(self) -> str:
        return f"bundle_{self.number}"


@dataclass(eq=False, slots=True)
class Move:
    """One load or store: commands that belong together."""

    layer: int
    tile: int
    outward: bool
    source: Tensor | Bundle
    transfers: tuple[Transfer, ...]
    place: Place
    # What a tile says about it; none for bundles.
    said: Load | Store | None = None
    # The recipe's buffer that holds it; none for bundles and for what comes whole.
    local: Local | None = None
    # The first compute step that a bundle is for.
    slot: int = -1
    position: int = BOOT
    # Position of the first step that needs it; stores: none.
    needed: int | None = None
    # Issued ahead of its layer.
    ahead: bool = False


@dataclass(frozen=True)
class Fetch:
    """A constant on its way from L3 to its place in L2."""

    position: int
    tensor: Tensor
    layer: int


@quick_record()
class Slot:
    """One compute step of one tile."""

    index: int
    layer: int
    tile: int
    step: Kernel | Call | Job
    places: dict[Local, Place]

    @property
    def position(self) -> int:
        return compute_position(self.index)


@dataclass(eq=False, slots=True)
class TiledLayer:
    """A layer in tiles: moves, and places of the buffers of its recipes. Bundles stand before all else."""

    index: int
    places: dict[Local, Place] = field(default_factory=dict)
    loads: list[Move] = field(default_factory=list)
    stores: list[Move] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    bundle_loads: list[Move] = field(default_factory=list)
    bundle_blocks: list[Block] = field(default_factory=list)

    def block(self, name: str, size: int) -> Block:
        """A new block of this layer."""
        made = Block(name, size, layer=self.index)
        self.blocks.append(made)
        return made


@dataclass(eq=False)
class Program:
    """A network in tiles, as far as it is decided."""

    network: Network
    choices: Sequence[Choice]
    policy: Policy
    l1_bytes: int
    # Layers that read a tensor in L2.
    l2_readers: Mapping[Tensor, Sequence[int]]
    # Constants that travel in bundles.
    bundled: frozenset[Tensor]
    layers: list[TiledLayer] = field(default_factory=list)
    # Block that holds an activation between layers.
    resident: dict[Tensor, Block] = field(default_factory=dict)
    # From `interleave` on: the order of all compute steps.
    order: StepOrder = _NO_ORDER
    # From `bundle` on, and the bundle that holds the record of each slot.
    bundles: tuple[Bundle, ...] = ()
    pages: tuple[Bundle, ...] = ()
    # From `prefetch` on, in the order of time.
    moves: tuple[Move, ...] = ()
    fetches: tuple[Fetch, ...] = ()
    # From `keep_alive` on: all blocks, and positions between which each activation must exist in L2.
    blocks: tuple[Block, ...] = ()
    l2_alive: dict[Tensor, tuple[int, int]] = field(default_factory=dict)
    # From `lay_out` on: compute steps with the places of their operands.
    slots: tuple[Slot, ...] = ()

    def later_readers(self, tensor: Tensor, layer: TiledLayer) -> list[int]:
        """Layers, from this one on, that read a tensor in L2."""
        return [index for index in self.l2_readers.get(tensor, ()) if index >= layer.index]

    @property
    def end(self) -> int:
        """Position behind the last compute step."""
        return store_position(len(self.order.all))
