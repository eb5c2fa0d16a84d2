"""The vocabulary of the main function on a cluster: every statement of TIR evaluates one of these calls.

    run(layer, operator, operands...)                              a whole layer; `insert_tiled_dma` replaces it
    layer(position, i)                                             layer i begins
    dma_load(position, move, local, external, bytes)               also _2d with line and stride; dma_store alike
    dma_load_rows(position, move, local, external, bytes, counter, row)  rows of a cache, at most so many bytes
    dma_store_bytes(position, move, external, local, bytes, apart)       single bytes of words of a cache
    dma_load_bundle(position, move, local, bundle, offset, bytes)  constants of a layer or a tile
    l3_load(position, place, offset, bytes)                        a constant from L3 to L2
    l3_load_rows(position, place, state, bytes, counter, row)      rows of a cache, at most so many bytes
    submit(position, slot, descriptor)                             start the job whose structure lies there
    call(position, slot, descriptor)                               a kernel on all cores, its arguments there

`insert_barriers` adds `step(position)`, `dma_begin(agent, group)`, `dma_wait(agent, group)`, `job_wait(ticket)`,
`l3_wait()`, `barrier()`, `meet(team)` and `end()`; transfers have their agent in front then, jobs their ticket behind.

Places are calls as well. Symbolic ones, `buffer(name, offset)` in L1 and `tensor(name, offset)` outside, become
addresses in `place_buffers`: `L1(offset)`, `L2(offset)` in the arena, `AT(name, offset)` behind a pointer.

A statement is one of the program's records (`planning.program.actions`) with what TIR says about it beside. `tir_call`
is the one place that prints a record as a call; `planning.tir.read_function` reads it.
"""

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property, lru_cache
from typing import Any

from tvm import tirx

from tvm_pulp.planning.program.actions import (
    Access,
    Begin,
    Fetch,
    Job,
    Kernel,
    Transfer,
    WaitForJob,
    WaitForL3,
    WaitForTransfers,
)
from tvm_pulp.quick_records import quick_record
from tvm_pulp.uma.teams import ALL_CORES

BUFFER, TENSOR = "buffer", "tensor"
L1, L2, AT = "L1", "L2", "AT"


@quick_record()
class Address:
    """An address, or what will become one."""

    kind: str  # BUFFER, TENSOR, L1, L2 or AT
    offset: int
    name: str = ""

    @property
    def space(self) -> str:
        """The space of an access there."""
        return self.name or self.kind


@quick_record()
class RunLayer:
    """A whole layer, with its tensors."""

    layer: int
    operator: str
    operands: tuple[str, ...]


@quick_record()
class BeginLayer:
    """A layer begins."""

    position: int
    index: int


@quick_record(kw_only=True)
class MoveBytes(Transfer):
    """A transfer in TIR. `bundle`: the number of the bundle that it is a part of, with the offset in it."""

    position: int
    move: int
    local: Address
    external: Address | None
    bundle: tuple[int, int] | None = None

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
class FetchBytes(Fetch):
    """A fetch in TIR: a constant from its offset in L3, or rows of a state."""

    position: int
    target: Address
    offset: int = 0
    state: str = ""
    counter: str = ""
    row: int = 0


@quick_record(kw_only=True)
class CallKernel(Kernel):
    """A kernel in TIR, by its slot in the schedule."""

    position: int
    slot: int
    arguments: Address


@quick_record(kw_only=True)
class SubmitJob(Job):
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


# Calls whose arguments are fields of their records, and fields that are always the same.
CALLS: dict[str, tuple[type[Any], tuple[str, ...], dict[str, Any]]] = {
    "layer": (BeginLayer, ("position", "index"), {}),
    "step": (BeginStep, ("position",), {}),
    "dma_begin": (Begin, ("agent", "group"), {}),
    "dma_wait": (WaitForTransfers, ("agent", "group"), {}),
    "job_wait": (WaitForJob, ("ticket",), {"agent": 0}),
    "l3_wait": (WaitForL3, (), {"agent": 0, "l3": True}),
    "meet": (Barrier, ("team",), {}),
    "barrier": (Barrier, (), {}),
    "end": (End, (), {}),
}
_NAMES = {kind: name for name, (kind, _, _) in CALLS.items()}

Positioned = BeginLayer | MoveBytes | FetchBytes | CallKernel | SubmitJob
Synchronisation = BeginStep | Barrier | End | Begin | WaitForTransfers | WaitForJob | WaitForL3
Statement = RunLayer | Positioned | Synchronisation


@quick_record(slots=False)
class Main:
    """The main function: its statements as records, and the same as TIR."""

    name: str
    statements: tuple[Statement, ...]
    # Before `insert_barriers` nobody has been chosen to issue transfers.
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
    """The statements of a function whose layers are tiles, before steps are made of them."""
    found = [s for s in main.statements if isinstance(s, Positioned)]
    assert len(found) == len(main.statements)
    return found


def tir_call(statement: Statement, *, has_agents: bool) -> Any:
    """A record as a call."""
    name, *arguments = _words(statement)
    if has_agents:
        if isinstance(statement, MoveBytes):
            arguments.insert(0, statement.agent)
        elif isinstance(statement, SubmitJob):
            arguments.append(statement.ticket)
    return _call(name, *arguments)


def _call(name: str, *arguments: Any) -> Any:
    return tirx.call_extern("int32", name, *map(_argument, arguments))


@lru_cache(maxsize=1 << 15)
def _argument(value: Any) -> Any:
    if isinstance(value, int):
        return tirx.const(value, "int32")
    if isinstance(value, Address):
        return _call(value.kind, *([value.name] if value.name else []), value.offset)
    return value


def _words(statement: Statement) -> tuple[Any, ...]:
    """Name and arguments of a statement's call."""
    match statement:
        case MoveBytes():
            return _transfer_words(statement)
        case FetchBytes():
            head, size = (statement.position, statement.target), statement.writes[0].bytes
            if statement.state:
                return ("l3_load_rows", *head, statement.state, size, statement.counter, statement.row)
            return ("l3_load", *head, statement.offset, size)
        case CallKernel() | SubmitJob():
            name = "call" if isinstance(statement, CallKernel) else "submit"
            return (name, statement.position, statement.slot, statement.arguments)
        case RunLayer():
            operands = (Address(TENSOR, 0, name) for name in statement.operands)
            return ("run", statement.layer, statement.operator, *operands)
        case Barrier() if statement.team != ALL_CORES:
            return ("meet", statement.team)
    name = _NAMES[type(statement)]
    return (name, *(getattr(statement, field) for field in CALLS[name][1]))


def _transfer_words(transfer: MoveBytes) -> tuple[Any, ...]:
    head, size = (transfer.position, transfer.move), transfer.inside.bytes
    if transfer.external is None:
        assert transfer.bundle is not None
        return ("dma_load_bundle", *head, transfer.local, *transfer.bundle, size)
    places = [transfer.local, transfer.external]
    if transfer.do == "store":
        places.reverse()
    outside = transfer.outside
    if outside is None or outside.line is None:
        if transfer.counter:
            return ("dma_load_rows", *head, *places, size, transfer.counter, transfer.row)
        if transfer.apart:
            return ("dma_store_bytes", *head, *places, size, transfer.apart)
        return (f"dma_{transfer.do}", *head, *places, size)
    return (f"dma_{transfer.do}_2d", *head, *places, size, outside.line, outside.stride)
