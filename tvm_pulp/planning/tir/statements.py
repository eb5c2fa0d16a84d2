"""The vocabulary of the main function on a cluster: every statement of TIR evaluates one of the calls in `CALLS`.

Places are calls as well: `L1(offset)`, `L2(offset)` in the arena, `AT(name, offset)` behind a pointer. Behind
`synchronise` transfers have their agent in front, and jobs their ticket behind.

A statement is one of the program's records (`planning.program.actions`) with what TIR says about it beside.
`planning.tir.read_function` reads what `tir_call` prints.
"""

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property, lru_cache
from typing import Any

from tvm import tirx

from tvm_pulp.planning.program.actions import (
    Access,
    Begin,
    FetchAction,
    JobAction,
    KernelAction,
    TransferAction,
    WaitForJob,
    WaitForL3,
    WaitForTransfers,
)
from tvm_pulp.quick_records import quick_record
from tvm_pulp.uma.teams import ALL_CORES

L1, L2, AT = "L1", "L2", "AT"


@quick_record()
class Address:
    """An address."""

    kind: str  # L1, L2 or AT
    offset: int
    name: str = ""

    @property
    def space(self) -> str:
        """The space of an access there."""
        return self.name or self.kind


@quick_record()
class BeginLayer:
    """A layer begins."""

    position: int
    index: int


@quick_record(kw_only=True)
class MoveBytes(TransferAction):
    """A transfer in TIR. `bundle`: the number of the bundle that it is a part of, from `offset` on."""

    position: int
    move: int
    local: Address
    external: Address | None
    bundle: int | None = None
    offset: int = 0

    @property
    def bytes(self) -> int:
        return self.inside.bytes

    @property
    def line(self) -> int | None:
        return self.outside.line if self.outside is not None else None

    @property
    def stride(self) -> int | None:
        return self.outside.stride if self.outside is not None else None

    @property
    def inside(self) -> Access:
        """The side in L1."""
        return (self.writes if self.do == "load" else self.reads)[0]

    @property
    def outside(self) -> Access | None:
        """The side outside L1, unless it is a bundle."""
        found = self.reads if self.do == "load" else self.writes
        return found[0] if found else None


def counted(counter: str, row: int, size: int) -> dict[str, Any]:
    """Fields of a transfer of rows. Plans are made for a cache that is half full."""
    return {"counter": counter, "row": row, "expected_bytes": max(row, size // 2)}


@quick_record(kw_only=True)
class FetchBytes(FetchAction):
    """A fetch in TIR: a constant from its offset in L3, or rows of a state."""

    position: int
    target: Address
    offset: int = 0
    state: str = ""
    counter: str = ""
    row: int = 0

    @property
    def bytes(self) -> int:
        return self.writes[0].bytes


@quick_record(kw_only=True)
class CallKernel(KernelAction):
    """A kernel in TIR, by its slot in the schedule."""

    position: int
    slot: int
    arguments: Address


@quick_record(kw_only=True)
class SubmitJob(JobAction):
    """A job in TIR, by its slot in the schedule."""

    position: int
    slot: int
    arguments: Address


@quick_record()
class BeginStep:
    """A step begins: what stands behind belongs to it, waits to the next."""

    position: int


@quick_record()
class Barrier:
    """All cores meet, or those of a team."""

    team: int = ALL_CORES


@quick_record()
class End:
    """The end of the function."""


# Calls by name: the record that each is, and the fields of it that are its arguments.
CALLS: dict[str, tuple[type[Any], list[str]]] = {
    name: (kind, fields.split())
    for name, kind, fields in (
        ("layer", BeginLayer, "position index"),
        ("dma_load", MoveBytes, "position move local external bytes"),
        ("dma_store", MoveBytes, "position move external local bytes"),
        ("dma_load_2d", MoveBytes, "position move local external bytes line stride"),
        ("dma_store_2d", MoveBytes, "position move external local bytes line stride"),
        # Rows of a cache, at most so many bytes; single bytes of words of a cache; constants of a layer or a tile.
        ("dma_load_rows", MoveBytes, "position move local external bytes counter row"),
        ("dma_load_bytes", MoveBytes, "position move local external bytes apart"),
        ("dma_store_bytes", MoveBytes, "position move external local bytes apart"),
        ("dma_load_bundle", MoveBytes, "position move local bundle offset bytes"),
        # A constant from L3 to L2; rows of a cache, at most so many bytes.
        ("l3_load", FetchBytes, "position target offset bytes"),
        ("l3_load_rows", FetchBytes, "position target state bytes counter row"),
        # The job whose structure lies there; a kernel on all cores with its arguments there.
        ("submit", SubmitJob, "position slot arguments"),
        ("call", CallKernel, "position slot arguments"),
        # From here on those that `synchronise` adds.
        ("step", BeginStep, "position"),
        ("dma_begin", Begin, "agent group"),
        ("dma_wait", WaitForTransfers, "agent group"),
        ("job_wait", WaitForJob, "ticket"),
        ("l3_wait", WaitForL3, ""),
        ("meet", Barrier, "team"),
        ("barrier", Barrier, ""),
        ("end", End, ""),
    )
}
_NAMES = {kind: name for name, (kind, _) in CALLS.items()}

Positioned = BeginLayer | MoveBytes | FetchBytes | CallKernel | SubmitJob
Synchronisation = BeginStep | Barrier | End | Begin | WaitForTransfers | WaitForJob | WaitForL3
Statement = Positioned | Synchronisation


@quick_record(slots=False)
class Main:
    """The main function: its statements as records, and the same as TIR."""

    name: str
    statements: tuple[Statement, ...]
    # Before `synchronise` nobody has been chosen to issue transfers.
    has_agents: bool = False
    # The function that the statements were read from, if they were.
    given: Any = field(default=None, compare=False, repr=False)

    @cached_property
    def function(self) -> Any:
        """The function in TIR."""
        if self.given is not None:
            return self.given
        calls = [tirx.Evaluate(tir_call(s, has_agents=self.has_agents)) for s in self.statements]
        return tirx.PrimFunc([], tirx.SeqStmt(calls)).with_attr("global_symbol", f"tvmgen_{self.name}_run")

    def with_statements(self, statements: Sequence[Statement], *, has_agents: bool = False) -> "Main":
        """The function with another body."""
        return Main(self.name, tuple(statements), has_agents)


def positioned(main: Main) -> list[Positioned]:
    """The statements of a function before steps are made of them."""
    found = [s for s in main.statements if isinstance(s, Positioned)]
    assert len(found) == len(main.statements)
    return found


def argument_fields(name: str, has_agents: bool) -> list[str]:
    """Fields that are the arguments of a call, in their order."""
    kind, fields = CALLS[name]
    before, behind = ["agent"] * (kind is MoveBytes), ["ticket"] * (kind is SubmitJob)
    return [*before, *fields, *behind] if has_agents else fields


def tir_call(statement: Statement, *, has_agents: bool) -> Any:
    """A record as a call."""
    name = _name(statement)
    return _call(name, *(getattr(statement, field) for field in argument_fields(name, has_agents)))


def _name(statement: Statement) -> str:
    match statement:
        case MoveBytes():
            rows = "_rows" if statement.counter else "_bytes" if statement.apart else ""
            how = "_bundle" if statement.external is None else "_2d" if statement.line is not None else rows
            return f"dma_{statement.do}{how}"
        case FetchBytes():
            return "l3_load_rows" if statement.state else "l3_load"
        case Barrier():
            return "barrier" if statement.team == ALL_CORES else "meet"
    return _NAMES[type(statement)]


def _call(name: str, *arguments: Any) -> Any:
    return tirx.call_extern("int32", name, *map(_argument, arguments))


@lru_cache(maxsize=1 << 15)
def _argument(value: Any) -> Any:
    if isinstance(value, int):
        return tirx.const(value, "int32")
    if isinstance(value, Address):
        return _call(value.kind, *([value.name] if value.name else []), value.offset)
    return value
