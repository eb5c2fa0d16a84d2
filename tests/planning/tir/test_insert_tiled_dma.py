"""`insert_tiled_dma`: before, calls of whole layers; after, tiles with the transfers of exactly the bytes they need."""

import re
from dataclasses import replace
from typing import Any

import numpy as np

from tests.planning.tiling.single_layers import make_layer
from tests.planning.tir.small_plans import plan_of, statements, two_tiles
from tvm_pulp import soc
from tvm_pulp.entry_point import plan_for
from tvm_pulp.planning.tir.insert_tiled_dma import insert_tiled_dma
from tvm_pulp.planning.tir.lower import layer_main
from tvm_pulp.planning.tir.tables import Tables
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.conformance.layer_network import layer_network, pinned, target_for
from tvm_pulp.uma.conformance.random_layer import RandomLayer
from tvm_pulp.uma.registry import backend

WINDOW: dict[str, Any] = {"layout": "NHWC", "strides": [1, 1], "dilation": [1, 1], "pads": [1, 1, 1, 1]}


def tiled(tables: Tables) -> list[str]:
    return statements(insert_tiled_dma(layer_main(tables), tables))


def loads(lines: list[str]) -> list[str]:
    """External place and sizes of loads."""
    found = [re.fullmatch(r"dma_load(?:_2d)?\(\S+ \d+, buffer\(\S+ \d+\), (.*)\)", s) for s in lines]
    return [m[1] for m in found if m is not None]


def stores(lines: list[str]) -> list[str]:
    """External place and sizes of stores."""
    found = [re.fullmatch(r"dma_store(?:_2d)?\(\S+ \d+, (.*?\)), buffer\(\S+ \d+\), (.*)\)", s) for s in lines]
    return [f"{m[1]}, {m[2]}" for m in found if m is not None]


def max_pool(shape: tuple[int, ...], tile: tuple[int, ...]) -> list[str]:
    """The tiles of a 3x3 pooling of `shape` with padding on all sides."""
    layer = make_layer("max_pool", {**WINDOW, "kernel": [3, 3]}, TensorSpec(shape, "int8"))
    return tiled(Tables(plan_of([layer], tile, overlap=False)))


def test_a_layer_becomes_its_tiles() -> None:
    tables = two_tiles(overlap=True)
    before = layer_main(tables)
    assert statements(before) == ["run(0, transpose, tensor(x, 0), tensor(y, 0))", "end()"]
    assert statements(insert_tiled_dma(before, tables)) == [
        "layer(2, 0)",
        "dma_load_bundle(-1, 0, buffer(bundle_0.0, 0), 0, 0, 172)",
        "dma_load(-1, 1, buffer(x0.1, 0), tensor(x, 0), 64)",
        "call(2, 0, buffer(bundle_0.0, 156))",
        "dma_store(5, 3, tensor(y, 0), buffer(y0.2, 0), 64)",
        "dma_load(2, 2, buffer(x0.3, 0), tensor(x, 64), 64)",
        "call(5, 1, buffer(bundle_0.0, 164))",
        "dma_store(6, 4, tensor(y, 64), buffer(y0.4, 0), 64)",
        "layer(7, 1)",
    ]


def test_rows_are_one_run_with_their_halo() -> None:
    """Six rows of 24 bytes in three tiles: border tiles read three rows, the one between reads four."""
    lines = max_pool((1, 6, 6, 4), (1, 2, 6, 4))
    assert loads(lines) == ["tensor(x0, 0), 72", "tensor(x0, 24), 96", "tensor(x0, 72), 72"]
    assert stores(lines) == ["tensor(y, 0), 48", "tensor(y, 48), 48", "tensor(y, 96), 48"]


def test_columns_are_lines_with_a_stride() -> None:
    """Left half and right half, one column of halo each: 4 of 6 columns, 4 bytes wide."""
    lines = max_pool((1, 6, 6, 4), (1, 6, 3, 4))
    assert loads(lines) == ["tensor(x0, 0), 96, 16, 24", "tensor(x0, 8), 96, 16, 24"]
    assert stores(lines) == ["tensor(y, 0), 72, 12, 24", "tensor(y, 12), 72, 12, 24"]


def test_boxes_of_three_dimensions_are_several_commands() -> None:
    """Two channels of three columns: one command per row, its lines are the columns."""
    lines = max_pool((1, 3, 6, 4), (1, 3, 3, 2))
    first = ["tensor(x0, 0), 8, 2, 4", "tensor(x0, 24), 8, 2, 4", "tensor(x0, 48), 8, 2, 4"]
    assert loads(lines)[:3] == first
    assert len(loads(lines)) == 4 * 3 and len(stores(lines)) == 4 * 3


POINTWISE = RandomLayer(
    "conv2d",
    {**WINDOW, "pads": [0, 0, 0, 0], "groups": 1, **Requant().attributes(), "zero_point": 0, "has_bias": 0},
    TensorSpec((1, 8, 4, 16), "int8"),
    (np.ones((8, 1, 1, 16), np.int8),),
)
LARGE = replace(POINTWISE, x=TensorSpec((1, 32, 16, 16), "int8"))


def lines_of(engine: str | None, l1: int, layer: RandomLayer = POINTWISE) -> list[str]:
    network = layer_network([layer])
    target = replace(target_for(soc.load("siracusa"), backend(engine) if engine else None), l1_limit=l1)
    target = pinned(target, network) if engine else target
    return tiled(Tables(plan_for(target, network).plan))


def test_a_job_has_its_operands_and_structure_before_it_starts() -> None:
    lines = lines_of("neureka", 16384)
    names = [line.split("(")[0] for line in lines]
    assert names[0] == names[-1] == "layer" and names.count("submit") == 1
    job = names.index("submit")
    assert names.index("dma_load_bundle") < job < names.index("dma_store")
    assert "tensor(x0, 0), 512" in loads(lines)
    assert stores(lines)[0].endswith(", 1024")  # 8 x 4 x 8 accumulators of four bytes


def test_tiles_of_a_small_l1_move_every_byte_once() -> None:
    lines = lines_of("neureka", 8192, LARGE)
    moved = [int(s.split(", ")[2]) for s in stores(lines)]
    assert len(moved) > 1 and sum(moved) == 16384
    assert sum(line.startswith("submit") for line in lines) == len(moved)


def test_on_the_cores_a_kernel_stands_between_loads_and_stores() -> None:
    names = [line.split("(")[0] for line in lines_of(None, 16384)]
    compute = names.index("call")
    assert all(name.startswith("dma_load") for name in names[1:compute])
    assert all(name.startswith("dma_store") for name in names[compute + 1 : -1])
