"""Pass: from layers to tiles.

Expects `layer_main`. Every `run` of a whole layer becomes its tiles in order: transfers of the boxes that a tile reads,
halo and borders included, its kernels or jobs, transfers of what it made. A box of one run of bytes is one command, one
of lines with a stride a `_2d` command, one of more dimensions several of those:

    run(0, "max_pool", tensor("x", 0), tensor("y", 0))         becomes
    dma_load(.., buffer("x0", 0), tensor("x", 0), 80); call(..); dma_store(.., tensor("y", 0), buffer("y0", 0), 32)
    dma_load(.., buffer("x0.1", 0), tensor("x", 64), 80); call(..); dma_store(.., tensor("y", 32), ..., 32)

Buffers are symbolic still. The first argument of a statement is its position in the schedule (`double_buffer`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tvm import tirx

from tvm_pulp.planning.tiling.schedule.schedule import Bundle, Move, Place, Slot
from tvm_pulp.planning.tir.statements import (
    BUFFER,
    BUNDLE,
    CALL,
    FETCH,
    LAYER,
    LOAD,
    RUN,
    STORE,
    SUBMIT,
    TENSOR,
    integer,
    place,
    statement,
    statement_name,
)
from tvm_pulp.planning.tir.tables import Tables
from tvm_pulp.uma.recipe import Job

Tile = tuple[int, int]


def insert_tiled_dma(function: Any, tables: Tables) -> Any:
    """The function tile by tile, constants from L3 last."""
    tiles = _Tiles(tables)
    statements: list[Any] = []
    for made in function.body.seq:
        if statement_name(made) == RUN:
            statements += tiles.of_layer(integer(made, 0))
    statements += tiles.fetches()
    statements.append(statement(LAYER, tables.plan.schedule.end + 1, len(tables.plan.layers)))
    return function.with_body(tirx.SeqStmt(statements))


class _Tiles:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._moves: dict[Tile, list[tuple[int, Move]]] = {}
        self._slots: dict[Tile, list[Slot]] = {}
        for number, move in enumerate(tables.moves):
            self._moves.setdefault((move.layer, move.tile), []).append((number, move))
        for slot in tables.slots:
            self._slots.setdefault((slot.layer, slot.tile), []).append(slot)

    def of_layer(self, index: int) -> Iterator[Any]:
        yield statement(LAYER, self._slots[index, 0][0].position, index)
        for tile in range(len(self._tables.plan.layers[index].recipes)):
            moves = self._moves.get((index, tile), [])
            for number, move in moves:
                if not move.outward:
                    yield from self._transfers(number, move)
            for slot in self._slots[index, tile]:
                yield self._compute(slot)
            for number, move in moves:
                if move.outward:
                    yield from self._transfers(number, move)

    def fetches(self) -> Iterator[Any]:
        offsets = self._tables.plan.l3_offsets()
        for fetch in self._tables.plan.schedule.fetches:
            target = place(TENSOR, fetch.tensor.name, 0)
            yield statement(FETCH, fetch.position, target, offsets.get(fetch.tensor, 0), fetch.tensor.spec.bytes)

    def _compute(self, slot: Slot) -> Any:
        page = self._tables.plan.schedule.pages[slot.index]
        descriptor = self._buffer(Place(self._tables.bundle_block[page], page.descriptors[slot.index]))
        return statement(SUBMIT if isinstance(slot.step, Job) else CALL, slot.position, slot.index, descriptor)

    def _transfers(self, number: int, move: Move) -> Iterator[Any]:
        for t in move.transfers:
            local = self._buffer(move.place, t.local)
            if isinstance(move.source, Bundle):
                yield statement(BUNDLE, move.position, number, local, move.source.number, t.external, t.bytes)
                continue
            name = STORE if move.outward else LOAD
            places = [local, place(TENSOR, move.source.storage.name, t.external)]
            if move.outward:
                places.reverse()
            lines = [t.line, t.stride] if t.is_2d else []
            yield statement(f"{name}_2d" if t.is_2d else name, move.position, number, *places, t.bytes, *lines)

    def _buffer(self, where: Place, offset: int = 0) -> Any:
        return place(BUFFER, self._tables.buffer_names[where.block], where.offset + offset)
