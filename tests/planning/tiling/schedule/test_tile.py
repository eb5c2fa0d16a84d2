"""`tile`: before, calls of whole layers; after, tiles with the transfers of exactly the bytes they need."""

import re
from dataclasses import replace
from typing import Any

import numpy as np

from tests.planning.tiling.single_layers import make_layer
from tests.planning.tir.small_plans import lines, plan_of, two_tiles
from tvm_pulp import soc
from tvm_pulp.entry_point import plan_for
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.planning.tiling.schedule.tile import tile
from tvm_pulp.planning.tir.planned_function import layer_function, planned_function
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.conformance.layer_network import layer_network, pinned, target_for
from tvm_pulp.uma.conformance.random_layer import RandomLayer
from tvm_pulp.uma.registry import backend

WINDOW: dict[str, Any] = {"layout": "NHWC", "strides": [1, 1], "dilation": [1, 1], "pads": [1, 1, 1, 1]}


def tiled(plan: Plan) -> list[str]:
    return lines(planned_function(tile(plan.network, plan.layers, plan.policy, plan.l1_bytes)))


def loads(text: list[str]) -> list[str]:
    """External place and sizes of loads."""
    found = [re.fullmatch(r"load\(buffer\(\S+ \d+\), (.*)\)", s) for s in text]
    return [m[1] for m in found if m is not None]


def stores(text: list[str]) -> list[str]:
    """External place and sizes of stores."""
    found = [re.fullmatch(r"store\((.*?\)), buffer\(\S+ \d+\), (.*)\)", s) for s in text]
    return [f"{m[1]}, {m[2]}" for m in found if m is not None]


def max_pool(shape: tuple[int, ...], size: tuple[int, ...]) -> list[str]:
    """The tiles of a 3x3 pooling of `shape` with padding on all sides."""
    layer = make_layer("max_pool", {**WINDOW, "kernel": [3, 3]}, TensorSpec(shape, "int8"))
    return tiled(plan_of([layer], size, overlap=False))


def test_a_layer_becomes_its_tiles() -> None:
    plan = two_tiles(overlap=True).plan
    assert lines(layer_function(plan.network)) == ["run(transpose, tensor(x, 0), tensor(y, 0))", "end()"]
    assert tiled(plan) == [
        "load(buffer(x0.0, 0), tensor(x, 0), 64)",
        "call(transpose, 0, 0, buffer(x0.0, 0), buffer(y0.1, 0))",
        "store(tensor(y, 0), buffer(y0.1, 0), 64)",
        "load(buffer(x0.2, 0), tensor(x, 64), 64)",
        "call(transpose, 0, 1, buffer(x0.2, 0), buffer(y0.3, 0))",
        "store(tensor(y, 64), buffer(y0.3, 0), 64)",
        "end()",
    ]


def test_rows_are_one_run_with_their_halo() -> None:
    """Six rows of 24 bytes in three tiles: border tiles read three rows, the one between reads four."""
    text = max_pool((1, 6, 6, 4), (1, 2, 6, 4))
    assert loads(text) == ["tensor(x0, 0), 72", "tensor(x0, 24), 96", "tensor(x0, 72), 72"]
    assert stores(text) == ["tensor(y, 0), 48", "tensor(y, 48), 48", "tensor(y, 96), 48"]


def test_columns_are_lines_with_a_stride() -> None:
    """Left half and right half, one column of halo each: 4 of 6 columns, 4 bytes wide."""
    text = max_pool((1, 6, 6, 4), (1, 6, 3, 4))
    assert loads(text) == ["tensor(x0, 0), 96, 16, 24", "tensor(x0, 8), 96, 16, 24"]
    assert stores(text) == ["tensor(y, 0), 72, 12, 24", "tensor(y, 12), 72, 12, 24"]


def test_boxes_of_three_dimensions_are_several_commands() -> None:
    """Two channels of three columns: one command per row, its lines are the columns."""
    text = max_pool((1, 3, 6, 4), (1, 3, 3, 2))
    first = ["tensor(x0, 0), 8, 2, 4", "tensor(x0, 24), 8, 2, 4", "tensor(x0, 48), 8, 2, 4"]
    assert loads(text)[:3] == first
    assert len(loads(text)) == 4 * 3 and len(stores(text)) == 4 * 3


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
    return tiled(plan_for(target, network).plan)


def test_a_job_has_its_operands_before_it_starts() -> None:
    text = lines_of("neureka", 16384)
    names = [line.split("(")[0] for line in text]
    assert names.count("submit") == 1 and names[-1] == "end"
    job = names.index("submit")
    assert names.index("load") < job < names.index("store")
    assert "tensor(x0, 0), 512" in loads(text)
    assert stores(text)[0].endswith(", 1024")  # 8 x 4 x 8 accumulators of four bytes


def test_tiles_of_a_small_l1_move_every_byte_once() -> None:
    text = lines_of("neureka", 8192, LARGE)
    moved = [int(s.split(", ")[2]) for s in stores(text)]
    assert len(moved) > 1 and sum(moved) == 16384
    assert sum(line.startswith("submit") for line in text) == len(moved)


def test_on_the_cores_a_kernel_stands_between_loads_and_stores() -> None:
    names = [line.split("(")[0] for line in lines_of(None, 16384)]
    compute = names.index("call")
    assert set(names[:compute]) == {"load"} and set(names[compute + 1 : -1]) == {"store"}
