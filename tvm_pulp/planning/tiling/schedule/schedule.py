"""The schedule of a network on a cluster: what runs in which order, what moves when, and which L1 bytes hold what.

Time is counted in positions. Compute step `s` stands at position 3s + 2; before it there is room for stores (3s) and
for loads (3s + 1) that nothing overlaps. A transfer at the position of a compute step runs while that step computes.
The schedule is correct if executed strictly in order; `tir.insert_barriers` makes asynchronous execution equal to that.
"""

from dataclasses import dataclass, field

from tvm_pulp.qnn.network import Tensor
from tvm_pulp.quick_records import quick_record
from tvm_pulp.uma.box import Box, Transfer
from tvm_pulp.uma.contiguous import box_bytes
from tvm_pulp.uma.recipe import Call, Job, Kernel, Local

# Before the first record: issued by the entry function itself.
BOOT = -1


def compute_position(slot: int) -> int:
    return 3 * slot + 2


def load_position(slot: int) -> int:
    """Nothing computes while such a load runs."""
    return 3 * slot + 1


def store_position(slot: int) -> int:
    """As `load_position`, early enough for a load of what was stored."""
    return 3 * slot


@dataclass(eq=False)
class Block:
    """Bytes of L1 that hold one thing from position `first` to position `last`, both included."""

    name: str
    bytes: int
    first: int
    last: int
    layer: int = 0  # that asked for it
    offset: int = -1
    # A job is expected to use the bytes until then: whoever takes them waits for it, which is no fault, but cycles.
    expected_until: int = 0

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

    @property
    def name(self) -> str:
        return f"bundle_{self.number}"


@quick_record()
class Move:
    """One load or store: commands that belong together."""

    layer: int
    tile: int
    outward: bool
    position: int
    source: Tensor | Bundle
    transfers: tuple[Transfer, ...]
    place: Place
    # Position of the first step that needs it; stores: none.
    needed: int | None = None
    # Issued ahead of its layer.
    ahead: bool = False
    # The recipe's buffer that holds it; none for bundles and for what comes whole.
    local: Local | None = None


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


@dataclass(frozen=True)
class Schedule:
    """Everything in order. `pages` names the bundle that holds the records of each slot."""

    slots: tuple[Slot, ...]
    moves: tuple[Move, ...]
    blocks: tuple[Block, ...]
    bundles: tuple[Bundle, ...]
    pages: tuple[Bundle, ...]
    # Block that holds an activation between layers.
    resident: dict[Tensor, Block]
    # Positions between which each activation must exist in L2.
    l2_alive: dict[Tensor, tuple[int, int]]
    fetches: tuple[Fetch, ...] = ()

    @property
    def end(self) -> int:
        """Position behind the last compute step."""
        return store_position(len(self.slots))
