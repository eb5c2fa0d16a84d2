"""`double_buffer`: before, tile by tile; after, the next load and the previous store beside the step that computes."""

from tests.planning.tir.small_plans import numbers, two_tiles
from tvm_pulp.planning.tir.double_buffer import double_buffer
from tvm_pulp.planning.tir.insert_tiled_dma import insert_tiled_dma
from tvm_pulp.planning.tir.lower import layer_main
from tvm_pulp.planning.tir.statements import Main
from tvm_pulp.planning.tir.tables import Tables


def before_and_after(tables: Tables) -> tuple[Main, Main]:
    before = insert_tiled_dma(layer_main(tables), tables)
    return before, double_buffer(before, tables)


def test_the_second_load_moves_beside_the_first_step() -> None:
    before, after = before_and_after(two_tiles(overlap=True))
    assert numbers(before) == [
        "layer(2, 0)",
        "dma_load_bundle(-1, 0, 0, 0, 172)",
        "dma_load(-1, 1, 64)",
        "call(2, 0)",
        "dma_store(5, 3, 64)",
        "dma_load(2, 2, 64)",
        "call(5, 1)",
        "dma_store(6, 4, 64)",
        "layer(7, 1)",
    ]
    assert numbers(after) == [
        "dma_load_bundle(-1, 0, 0, 0, 172)",
        "dma_load(-1, 1, 64)",
        "layer(2, 0)",
        "dma_load(2, 2, 64)",  # of tile 1
        "call(2, 0)",
        "dma_store(5, 3, 64)",  # of tile 0
        "call(5, 1)",
        "dma_store(6, 4, 64)",
        "layer(7, 1)",
    ]


def test_without_overlap_the_order_stays() -> None:
    before, after = map(numbers, before_and_after(two_tiles(overlap=False)))
    # Only the layer's mark moves behind what the entry function loads.
    assert [s for s in after if not s.startswith("layer")] == [s for s in before if not s.startswith("layer")]


def test_the_two_tiles_use_two_buffers_only_with_overlap() -> None:
    places = {}
    for overlap in (True, False):
        schedule = two_tiles(overlap=overlap).plan.schedule
        places[overlap] = {m.place.address for m in schedule.moves if m.source.name == "x"}
    assert len(places[True]) == 2 and len(places[False]) == 1
