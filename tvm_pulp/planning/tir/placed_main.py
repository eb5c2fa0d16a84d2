"""The main function of a program whose blocks have addresses: statements in the order of their positions.

Statements of one position belong together: a layer's mark, its job, transfers, and then the kernel, since a job starts
before the transfers that move beside it.
"""

from collections.abc import Iterator

from tvm_pulp.grouped import grouped
from tvm_pulp.planning.tir.statements import BeginLayer, CallKernel, Main, Positioned, SubmitJob
from tvm_pulp.planning.tir.tables import Tables

_RANK = {BeginLayer: 0, SubmitJob: 1, CallKernel: 3}


def placed_main(tables: Tables) -> Main:
    """The function before anything waits for anything; what comes from L3 is last of its position."""
    program = tables.plan.schedule
    numbers = grouped(((move.layer, move.tile), number) for number, move in enumerate(program.moves))
    statements = [made for layer in range(len(tables.plan.layers)) for made in _tiles(layer, tables, numbers)]
    statements += [tables.fetch(fetch) for fetch in program.fetches]
    statements.append(BeginLayer(program.end + 1, len(tables.plan.layers)))
    statements.sort(key=lambda s: (s.position, _RANK.get(type(s), 2)))
    return Main(tables.plan.network.name, tuple(statements))


def _tiles(layer: int, tables: Tables, numbers: dict[tuple[int, int], list[int]]) -> Iterator[Positioned]:
    """The tiles of a layer. `numbers`: those of each tile's moves."""
    yield BeginLayer(tables.tile_slots[layer, 0][0].position, layer)
    for tile in range(len(tables.plan.layers[layer].recipes)):
        moves = [(number, tables.moves[number]) for number in numbers.get((layer, tile), ())]
        yield from (tables.transfer(n, part) for n, move in moves if not move.outward for part in move.transfers)
        yield from map(tables.compute, tables.tile_slots[layer, tile])
        yield from (tables.transfer(n, part) for n, move in moves if move.outward for part in move.transfers)
