"""The network on a cluster as one TIR function: every tile's transfers, kernel calls and accelerator jobs.

The statements are calls of a small vocabulary, tile by tile and without synchronisation. The first argument of each is
its position in the schedule: `double_buffer` brings statements into that order, `insert_barriers` synchronises them.

    layer(position, i)                                             layer i begins
    dma_load(position, move, local, external, bytes)               also _2d with line and stride; dma_store alike
    dma_load_bundle(position, move, local, bundle, offset, bytes)  constants of a layer or a tile
    l3_load(position, place, offset, bytes)                        a constant from L3 to L2
    submit(position, slot, descriptor)                             start the job whose structure lies there
    call(position, slot, descriptor)                               a kernel on all cores, its arguments there
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tvm import tirx

from tvm_pulp.qnn.network import Tensor
from tvm_pulp.tiling.plan import Plan
from tvm_pulp.tiling.schedule import Bundle, Fetch, Move, Slot
from tvm_pulp.tir.regions import Access, Region
from tvm_pulp.uma.recipe import Job, Kernel, Local

LAYER, LOAD, STORE, SUBMIT, CALL, BUNDLE = "layer", "dma_load", "dma_store", "submit", "call", "dma_load_bundle"
FETCH = "l3_load"
# Places: an offset in L1, an offset in the L2 arena, an offset from a named pointer.
L1, L2, AT = "L1", "L2", "AT"


@dataclass(frozen=True)
class TiledMain:
    """The function, and the tables its numbers refer to."""

    function: Any
    plan: Plan
    moves: tuple[Move, ...]  # by the second argument of transfers
    slots: tuple[Slot, ...]  # by the second argument of `submit` and `call`
    pointers: dict[str, Tensor] = field(default_factory=dict)  # named pointers that `AT` uses


def call(name: str, *arguments: Any) -> Any:
    values = [tirx.const(a, "int32") if isinstance(a, int) else a for a in arguments]
    return tirx.call_extern("int32", name, *values)


def statement(name: str, *arguments: Any) -> Any:
    return tirx.Evaluate(call(name, *arguments))


def statement_name(made: Any) -> str:
    """Name of the call a statement makes."""
    return str(made.value.args[0].value)


def integer(made: Any, index: int) -> int:
    """Integer argument of a statement."""
    return int(made.value.args[1 + index].value)


def build_tiled_main(plan: Plan) -> TiledMain:
    """All statements of the plan, tile by tile: loads, compute steps, stores."""
    schedule = plan.schedule
    builder = _Builder(plan)
    moves: dict[tuple[int, int], list[tuple[int, Move]]] = {}
    for number, move in enumerate(schedule.moves):
        moves.setdefault((move.layer, move.tile), []).append((number, move))
    slots: dict[tuple[int, int], list[Slot]] = {}
    for slot in schedule.slots:
        slots.setdefault((slot.layer, slot.tile), []).append(slot)
    for index, layer in enumerate(plan.layers):
        builder.add(LAYER, slots[index, 0][0].position, index)
        for tile in range(len(layer.recipes)):
            mine = moves.get((index, tile), [])
            for number, move in mine:
                if not move.outward:
                    builder.move(number, move)
            for slot in slots[index, tile]:
                builder.compute(slot)
            for number, move in mine:
                if move.outward:
                    builder.move(number, move)
    for fetch in schedule.fetches:
        builder.fetch(fetch)
    builder.add(LAYER, schedule.end + 1, len(plan.layers))
    function = tirx.PrimFunc([], tirx.SeqStmt(builder.statements))
    function = function.with_attr("global_symbol", f"tvmgen_{plan.network.name}_run")
    return TiledMain(function, plan, schedule.moves, schedule.slots, builder.pointers)


class _Builder:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.statements: list[Any] = []
        self.pointers: dict[str, Tensor] = {}
        self._l3 = plan.l3_offsets()
        self._bundle_at = {m.source: m.place.address for m in plan.schedule.moves if isinstance(m.source, Bundle)}

    def add(self, name: str, *arguments: Any) -> None:
        self.statements.append(statement(name, *arguments))

    def compute(self, slot: Slot) -> None:
        page = self._plan.schedule.pages[slot.index]
        place = self._bundle_at[page] + page.descriptors[slot.index]
        self.add(SUBMIT if isinstance(slot.step, Job) else CALL, slot.position, slot.index, call(L1, place))

    def fetch(self, fetch: Fetch) -> None:
        place = call(L2, self._plan.arena.offsets[fetch.tensor])
        self.add(FETCH, fetch.position, place, self._l3[fetch.tensor], fetch.tensor.spec.bytes)

    def _external(self, tensor: Tensor, offset: int) -> Any:
        storage = tensor.storage
        if storage in self._plan.arena.offsets:
            return call(L2, self._plan.arena.offsets[storage] + offset)
        self.pointers[storage.name] = storage
        return call(AT, storage.name, offset)

    def move(self, number: int, move: Move) -> None:
        for t in move.transfers:
            local = call(L1, move.place.address + t.local)
            if isinstance(move.source, Bundle):
                self.add(BUNDLE, move.position, number, local, move.source.number, t.external, t.bytes)
                continue
            name = STORE if move.outward else LOAD
            places = [local, self._external(move.source, t.external)]
            if move.outward:
                places.reverse()
            extra = [t.line, t.stride] if t.is_2d else []
            self.add(f"{name}_2d" if t.is_2d else name, move.position, number, *places, t.bytes, *extra)


def access_of(main: TiledMain, made: Any) -> Access:
    """What a statement of the tiled main touches."""
    name = statement_name(made)
    if name in (SUBMIT, CALL):
        return _compute_access(main, main.slots[integer(made, 1)])
    if name == BUNDLE:
        return Access((), (Region(L1, int(made.value.args[3].args[1].value), integer(made, 5)),))
    if name == FETCH:
        return Access((), (Region(L2, int(made.value.args[2].args[1].value), integer(made, 3)),))
    if not name.startswith((LOAD, STORE)):
        return Access()
    target, source, *sizes = made.value.args[3:]
    outward = name.startswith(STORE)
    size, line, stride = (*(int(s.value) for s in sizes), 0, 0)[:3]
    local, external = (source, target) if outward else (target, source)
    inside = Region(L1, int(local.args[1].value), size)
    outside = _external_region(external, size, line, stride)
    return Access((inside,), (outside,)) if outward else Access((outside,), (inside,))


def _external_region(place: Any, size: int, line: int, stride: int) -> Region:
    kind, *values = place.args
    if str(kind.value) == L2:
        return Region(L2, int(values[0].value), size, line, stride)
    return Region(str(values[0].value), int(values[1].value), size, line, stride)


def _compute_access(main: TiledMain, slot: Slot) -> Access:
    step = slot.step
    reads = step.inputs if isinstance(step, Kernel) else step.reads
    writes = (*step.outputs, *step.workspaces) if isinstance(step, Kernel) else step.writes

    def region(operand: Local | Tensor) -> Region:
        if isinstance(operand, Local):
            return Region(L1, slot.places[operand].address, operand.bytes)
        storage = operand.storage
        if storage in main.plan.arena.offsets:
            return Region(L2, main.plan.arena.offsets[storage], storage.spec.bytes)
        return Region(storage.name, 0, storage.spec.bytes)

    return Access(tuple(region(o) for o in reads), tuple(region(o) for o in writes))
