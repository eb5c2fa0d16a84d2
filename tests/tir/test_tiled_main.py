"""`tiled_main`: a plan's tiles as transfers, kernel calls and jobs, in order and at their places."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np

from tvm_pulp import soc
from tvm_pulp.conformance.layer_network import layer_network, pinned, target_for
from tvm_pulp.conformance.random_layer import RandomLayer
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.tir.tiled_main import TiledMain, build_tiled_main
from tvm_pulp.uma.registry import backend

WINDOW = {"layout": "NHWC", "strides": [1, 1], "dilation": [1, 1], "pads": [0, 0, 0, 0], "groups": 1}
POINTWISE = RandomLayer(
    "conv2d",
    {**WINDOW, **Requant().attributes(), "zero_point": 0, "has_bias": 0},
    TensorSpec((1, 8, 4, 16), "int8"),
    (np.ones((8, 1, 1, 16), np.int8),),
)


LARGE = replace(POINTWISE, x=TensorSpec((1, 32, 16, 16), "int8"))


def main_of(engine: str | None, l1: int, layer: RandomLayer = POINTWISE) -> TiledMain:
    network = layer_network([layer])
    target = target_for(soc.load("siracusa"), backend(engine) if engine else None, l1=l1)
    target = pinned(target, network) if engine else target
    return build_tiled_main(target.plan(network))


def statements(main: TiledMain) -> list[str]:
    """Calls as text: `dma_load(L1(0), AT(x, 0), 512)`."""

    def text(value: Any) -> str:
        if hasattr(value, "args"):
            name, *rest = value.args
            return f"{name.value}({', '.join(text(r) for r in rest)})"
        return str(value.value)

    return [text(statement.value) for statement in main.function.body.seq]


def test_a_job_has_its_operands_and_structure_before_it_starts() -> None:
    lines = statements(main_of("neureka", 16384))
    names = [line.split("(")[0] for line in lines]
    assert names[0] == names[-1] == "layer" and names.count("submit") == 1
    job = names.index("submit")
    assert names.index("dma_load_bundle") < job and names.index("dma_store") > job
    loads = [line for line in lines if line.startswith("dma_load(")]
    assert any("AT(x0, 0), 512)" in line for line in loads)
    assert lines[names.index("dma_store")].endswith(", 1024)")  # 8 x 4 x 8 accumulators of four bytes


def test_tiles_of_a_small_l1_move_every_byte_once() -> None:
    lines = statements(main_of("neureka", 8192, LARGE))
    stores = [line for line in lines if line.startswith("dma_store")]
    assert len(stores) > 1
    assert sum(int(re.search(r"\), (\d+)", line)[1]) for line in stores) == 16384  # type: ignore[index]
    assert sum(line.startswith("submit") for line in lines) == len(stores)


def test_on_the_cores_a_kernel_stands_between_loads_and_stores() -> None:
    lines = statements(main_of(None, 16384))
    names = [line.split("(")[0] for line in lines]
    compute = next(i for i, name in enumerate(names) if name in ("kernel", "call"))
    assert all(name.startswith("dma_load") for name in names[1:compute])
    assert all(name.startswith("dma_store") for name in names[compute + 1 : -1])


def test_places_are_inside_the_budget() -> None:
    for engine in (None, "neureka"):
        for line in statements(main_of(engine, 4096)):
            assert all(int(offset) < 4096 for offset in re.findall(r"L1\((\d+)\)", line))
