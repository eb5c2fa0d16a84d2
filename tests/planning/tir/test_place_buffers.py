"""`place_buffers`: before, buffers and tensors by name; after, the addresses of the plan."""

from tests.planning.tir.small_plans import statements, two_tiles
from tvm_pulp.planning.tir.insert_tiled_dma import insert_tiled_dma
from tvm_pulp.planning.tir.lower import layer_main
from tvm_pulp.planning.tir.place_buffers import place_buffers


def test_every_place_becomes_an_address() -> None:
    """The result of the first layer lies in the arena, what the caller owns behind a pointer."""
    tables = two_tiles(overlap=False, layers=2)
    before = insert_tiled_dma(layer_main(tables), tables)
    assert statements(before)[:9] == [
        "layer(2, 0)",
        "dma_load_bundle(-1, 0, buffer(bundle_0.0, 0), 0, 0, 260)",
        "dma_load(-1, 1, buffer(x0.1, 0), tensor(x, 0), 64)",
        "call(2, 0, buffer(bundle_0.0, 244))",
        "dma_store(3, 2, tensor(t0, 0), buffer(y0.2, 0), 64)",
        "dma_load(4, 3, buffer(x0.3, 0), tensor(x, 64), 64)",
        "call(5, 1, buffer(bundle_0.0, 252))",
        "dma_store(6, 4, tensor(t0, 64), buffer(y0.4, 0), 64)",
        "layer(8, 1)",
    ]
    assert statements(place_buffers(before, tables))[:9] == [
        "layer(2, 0)",
        "dma_load_bundle(-1, 0, L1(0), 0, 0, 260)",
        "dma_load(-1, 1, L1(272), AT(x, 0), 64)",
        "call(2, 0, L1(244))",
        "dma_store(3, 2, L2(0), L1(336), 64)",
        "dma_load(4, 3, L1(272), AT(x, 64), 64)",
        "call(5, 1, L1(252))",
        "dma_store(6, 4, L2(64), L1(336), 64)",
        "layer(8, 1)",
    ]


def test_nothing_symbolic_remains() -> None:
    for overlap in (True, False):
        tables = two_tiles(overlap=overlap, layers=3)
        after = statements(place_buffers(insert_tiled_dma(layer_main(tables), tables), tables))
        assert not any("buffer(" in line or "tensor(" in line for line in after)
