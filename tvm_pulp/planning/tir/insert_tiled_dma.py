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

from tvm_pulp.grouped import grouped
from tvm_pulp.planning.tir.statements import BeginLayer, Main, RunLayer, Statement
from tvm_pulp.planning.tir.tables import Tables


def insert_tiled_dma(main: Main, tables: Tables) -> Main:
    """The function tile by tile, constants from L3 last."""
    numbers = grouped(((move.layer, move.tile), number) for number, move in enumerate(tables.moves))
    runs = [run for run in main.statements if isinstance(run, RunLayer)]
    statements = [made for run in runs for made in _tiles(run.layer, tables, numbers)]
    statements += [tables.fetch(fetch) for fetch in tables.plan.schedule.fetches]
    return main.with_statements([*statements, BeginLayer(tables.plan.schedule.end + 1, len(tables.plan.layers))])


def _tiles(layer: int, tables: Tables, numbers: dict[tuple[int, int], list[int]]) -> Iterator[Statement]:
    """The tiles of a layer. `numbers`: those of each tile's moves."""
    yield BeginLayer(tables.tile_slots[layer, 0][0].position, layer)
    for tile in range(len(tables.plan.layers[layer].recipes)):
        moves = [(number, tables.moves[number]) for number in numbers.get((layer, tile), ())]
        yield from (tables.transfer(n, part) for n, move in moves if not move.outward for part in move.transfers)
        yield from map(tables.compute, tables.tile_slots[layer, tile])
        yield from (tables.transfer(n, part) for n, move in moves if move.outward for part in move.transfers)
