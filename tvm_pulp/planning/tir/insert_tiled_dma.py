"""Pass: from layers to tiles.

Expects `layer_main`. Every `run` of a whole layer becomes its tiles in order: transfers of the boxes that a tile reads,
halo and borders included, its kernels or jobs, transfers of what it made. A box of one run of bytes is one command, one
of lines with a stride a `_2d` command, one of more dimensions several of those:

    run(0, "max_pool", tensor("x", 0), tensor("y", 0))         becomes
    dma_load(.., buffer("x0", 0), tensor("x", 0), 80); call(..); dma_store(.., tensor("y", 0), buffer("y0", 0), 32)
    dma_load(.., buffer("x0.1", 0), tensor("x", 64), 80); call(..); dma_store(.., tensor("y", 32), ..., 32)

Buffers are symbolic still. The first argument of a statement is its position in the schedule (`double_buffer`).
"""

from collections.abc import Iterator

from tvm_pulp.planning.tiling.schedule.schedule import Move, Slot
from tvm_pulp.planning.tir.statements import BeginLayer, Main, MoveBytes, RunLayer, Statement
from tvm_pulp.planning.tir.tables import Tables

Tile = tuple[int, int]


def insert_tiled_dma(main: Main, tables: Tables) -> Main:
    """The function tile by tile, constants from L3 last."""
    tiles, plan = _Tiles(tables), tables.plan
    statements: list[Statement] = []
    for run in main.statements:
        if isinstance(run, RunLayer):
            statements += tiles.of_layer(run.layer)
    statements += [tables.fetch(fetch) for fetch in plan.schedule.fetches]
    return main.with_statements([*statements, BeginLayer(plan.schedule.end + 1, len(plan.layers))])


class _Tiles:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._moves: dict[Tile, list[tuple[int, Move]]] = {}
        self._slots: dict[Tile, list[Slot]] = {}
        for number, move in enumerate(tables.moves):
            self._moves.setdefault((move.layer, move.tile), []).append((number, move))
        for slot in tables.slots:
            self._slots.setdefault((slot.layer, slot.tile), []).append(slot)

    def of_layer(self, index: int) -> Iterator[Statement]:
        yield BeginLayer(self._slots[index, 0][0].position, index)
        for tile in range(len(self._tables.plan.layers[index].recipes)):
            moves = self._moves.get((index, tile), [])
            yield from self._transfers(moves, outward=False)
            for slot in self._slots[index, tile]:
                yield self._tables.compute(slot)
            yield from self._transfers(moves, outward=True)

    def _transfers(self, moves: list[tuple[int, Move]], *, outward: bool) -> Iterator[MoveBytes]:
        for number, move in moves:
            if move.outward == outward:
                yield from (self._tables.transfer(number, part) for part in move.transfers)
