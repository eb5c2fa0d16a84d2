"""The program of a plan: steps with their waits, and what cores, DMA and engines do in each.

These records are the one definition of a step, a transfer, a job, a kernel, a wait: TIR passes build them
(`planning.tir.statements` prints and reads them as TIR), estimate, verifier, pictures and C read them, and plan.json is
made of them field by field. A field whose default is None is left out of the file where it is None.

Contents of memory have names: `x` is the tensor x itself, byte by byte; `x[0:4, 0:8]` the packed box of it;
`raw@17` something that step 17 made; `bundle_3` a bundle.
"""

from collections.abc import Iterable, Iterator
from typing import Annotated, ClassVar, Literal, TypeVar

from pydantic import AfterValidator, Field

from tvm_pulp.quick_records import quick_record


@quick_record()
class Access:
    """Bytes that an action reads or writes: one run, or lines a stride apart, and what they hold.

    Spaces: L1, L2 (the arena), or the name of a tensor.
    """

    space: str
    start: int
    bytes: int
    content: str
    from_: Annotated[int, Field(alias="from")]  # place inside the content
    # Bytes that may be touched behind `start`: engines move whole beats.
    reach: int | None = None
    line: int | None = None
    stride: int | None = None
    # Bytes behind the content that an engine computes with, and whose results nobody reads.
    fill: int | None = None

    @property
    def end(self) -> int:
        """The byte behind the last."""
        if self.line is not None and self.stride is not None and self.bytes > self.line:
            return self.start + (self.bytes // self.line - 1) * self.stride + self.line
        return self.start + self.bytes

    @property
    def whole(self) -> "Access":
        """The access with all that may be touched behind it."""
        return self if self.reach is None or self.reach <= self.bytes else self._of(self.reach)

    @property
    def filled(self) -> "Access":
        """The access with what is computed with behind it."""
        return self if self.fill is None else self._of(self.bytes + self.fill)

    def _of(self, size: int) -> "Access":
        """The access with another number of bytes."""
        kept = (self.content, self.from_, self.reach, self.line, self.stride, self.fill)
        return Access(self.space, self.start, size, *kept)

    def overlaps(self, other: "Access") -> bool:
        """Tell if a byte belongs to both; may say yes wrongly only for lines of different strides."""
        if self.space != other.space or not self.bytes or not other.bytes:
            return False
        if self.start >= other.end or other.start >= self.end:
            return False
        if self.stride is not None and other.line is not None and self.stride == other.stride:
            # Both repeat with the same stride: compare the columns.
            shift = (other.start - self.start) % self.stride
            return shift < (self.line or 0) or shift + other.line > self.stride
        return True


def _checked(access: Access) -> Access:
    if (access.line is None) != (access.stride is None):
        raise ValueError("line and stride go together")
    return access


Accesses = tuple[Annotated[Access, AfterValidator(_checked)], ...]


@quick_record(kw_only=True)
class Begin:
    """A core opens a group of transfers."""

    do: Literal["begin"] = "begin"
    agent: int
    group: int
    # As of every action; it touches nothing.
    reads: ClassVar[tuple[Access, ...]] = ()
    writes: ClassVar[tuple[Access, ...]] = ()


@quick_record(kw_only=True)
class TransferAction:
    """One command of the cluster's DMA, in the open group of its core."""

    do: Literal["load", "store"]
    layer: int
    tile: int
    agent: int
    ahead: bool  # issued before its layer begins
    reads: Accesses
    writes: Accesses
    # Where it brings no more rows than there are: the input that counts them, bytes of a row, and those that plans
    # expect to move.
    counter: str = ""
    row: int = 0
    expected_bytes: int = 0
    # Where a store puts single bytes into words of a cache: bytes from one to the next.
    apart: int = 0


@quick_record(kw_only=True)
class FetchAction:
    """A constant, or rows of a cache, from L3 to L2."""

    do: Literal["fetch"] = "fetch"
    layer: int
    agent: int = 0
    reads: Accesses = ()
    writes: Accesses


@quick_record(kw_only=True)
class KernelAction:
    """A function on all cores, or on a `team` of them. `cold_cycles`: what fetching its `code` takes."""

    do: Literal["kernel"] = "kernel"
    layer: int
    tile: int
    op: str
    cycles: int
    cold_cycles: int | None = None
    code: str | None = None
    team: int | None = None
    descriptor: Access
    reads: Accesses
    writes: Accesses


@quick_record(kw_only=True)
class JobAction:
    """A job of an accelerator, waited for by its ticket.

    `words`: those that the driver writes; `runs`: of the engine, which the driver makes of it; `port_cycles`: in which
    it uses its port to L1, where that is known.
    """

    do: Literal["job"] = "job"
    layer: int
    tile: int
    engine: str
    ticket: int
    queue: int
    words: int
    cycles: int
    descriptor: Access
    reads: Accesses
    writes: Accesses
    runs: int = 1
    port_cycles: int | None = None


AnyAction = TypeVar("AnyAction", Begin, TransferAction, FetchAction, KernelAction, JobAction)
Action = Annotated[Begin | TransferAction | FetchAction | KernelAction | JobAction, Field(discriminator="do")]


@quick_record()
class WaitForTransfers:
    """Until a group of a core's transfers is over."""

    agent: int
    group: int


@quick_record()
class WaitForJob:
    """Until the job with this ticket is over."""

    agent: int
    ticket: int


@quick_record()
class WaitForL3:
    """Until the I/O DMA has nothing left to do."""

    agent: int
    l3: Literal[True]


Wait = WaitForTransfers | WaitForJob | WaitForL3


@quick_record()
class Page:
    """The place that the record of a step is read from."""

    bundle: str
    offset: int
    bytes: int

    @property
    def access(self) -> Access:
        """The bytes that reading the record touches."""
        return Access("L1", self.offset, self.bytes, self.bundle, 0)


@quick_record(kw_only=True)
class Step:
    """Waits, then a barrier, of all or of a `team`, then actions. The position is None behind the last record."""

    position: int | None
    waits: tuple[Wait, ...]
    barrier: bool
    actions: tuple[Action, ...]
    team: int | None = None  # that meets, where it is not all cores
    page: Page | None = None  # that holds its record


def read_by(action: Action) -> tuple[Access, ...]:
    """The accesses by which an action reads, its descriptor among it."""
    return (*action.reads, action.descriptor) if isinstance(action, KernelAction | JobAction) else action.reads


def operands_of(action: Action) -> tuple[Access, ...]:
    """All accesses of an action beside its descriptor."""
    return (*action.reads, *action.writes)


def actions_of(program: Iterable[Step], kind: type[AnyAction]) -> Iterator[AnyAction]:
    """All actions of a kind in their order."""
    return (action for step in program for action in step.actions if isinstance(action, kind))
