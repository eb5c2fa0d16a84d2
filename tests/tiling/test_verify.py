"""The verifier accepts real plans and finds every kind of planted fault."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tvm_pulp import soc
from tvm_pulp.api import CompileOptions, import_model
from tvm_pulp.canonicalize.pipeline import canonicalize
from tvm_pulp.target import resolve_target
from tvm_pulp.tiling.build_network import build_network
from tvm_pulp.tiling.plan import describe
from tvm_pulp.tiling.verify import verify

SIRACUSA = soc.load("siracusa")


@pytest.fixture(scope="module")
def plan() -> dict[str, Any]:
    options = CompileOptions(target="uma-neureka", l1=16384)
    target = resolve_target(options)
    imported = import_model("zoo:resnet8", options)
    return describe(target.plan(build_network(canonicalize(imported), imported, "net")))


def tiled(plan: dict[str, Any]) -> dict[str, Any]:
    """A layer of several tiles."""
    return next(layer for layer in plan["layers"] if len(layer["tiles"]) > 2)


def first_step(tile: dict[str, Any], kind: str) -> dict[str, Any]:
    return next(step for step in tile["steps"] if step["do"] == kind)


def test_a_real_plan_is_clean(plan: dict[str, Any]) -> None:
    assert verify(plan, SIRACUSA) == []
    assert {layer["engine"] for layer in plan["layers"]} == {"neureka", "cluster"}


def overlap_l2(plan: dict[str, Any]) -> None:
    a, b = plan["l2"]["tensors"][:2]
    a["alive"] = b["alive"] = [0, 1]
    a["offset"] = b["offset"]


def leave_the_arena(plan: dict[str, Any]) -> None:
    plan["l2"]["tensors"][0]["offset"] = plan["l2"]["size"]


def overlap_l1(plan: dict[str, Any]) -> None:
    buffers = tiled(plan)["tiles"][0]["buffers"]
    buffers[1]["offset"] = buffers[0]["offset"]


def exceed_l1(plan: dict[str, Any]) -> None:
    tiled(plan)["tiles"][1]["buffers"][-1]["offset"] = plan["l1_bytes"] - 4


def misalign(plan: dict[str, Any]) -> None:
    tiled(plan)["tiles"][0]["buffers"][-1]["offset"] += 2


def exceed_the_memory(plan: dict[str, Any]) -> None:
    plan["l1_bytes"] = SIRACUSA.memory.l1.size + 1


def fill_weight_memory(plan: dict[str, Any]) -> None:
    next(c for c in plan["constants"] if c["level"] == "weight_sram")["bytes"] = 1 << 23


def drop_a_load(plan: dict[str, Any]) -> None:
    tile = tiled(plan)["tiles"][0]
    tile["steps"].remove(first_step(tile, "load"))


def read_what_has_no_place(plan: dict[str, Any]) -> None:
    tile = tiled(plan)["tiles"][0]
    first_step(tile, "store")["reads"] = ["ghost@0"]


def write_what_has_no_place(plan: dict[str, Any]) -> None:
    first_step(tiled(plan)["tiles"][0], "load")["writes"] = ["ghost@0"]


def drop_a_tile(plan: dict[str, Any]) -> None:
    del tiled(plan)["tiles"][0]


def write_twice(plan: dict[str, Any]) -> None:
    tiles = tiled(plan)["tiles"]
    first_step(tiles[1], "store")["start"] = first_step(tiles[0], "store")["start"]


def leave_the_output(plan: dict[str, Any]) -> None:
    first_step(tiled(plan)["tiles"][0], "store")["start"][-1] += 1000


@pytest.mark.parametrize(
    ("plant", "message"),
    [
        (overlap_l2, "overlap while both are alive"),
        (leave_the_arena, "lies outside the arena"),
        (overlap_l1, "tile 0: buffers .* overlap"),
        (exceed_l1, "beyond the budget"),
        (misalign, "is not aligned to 4 bytes"),
        (exceed_the_memory, "exceeds the memory's"),
        (fill_weight_memory, "weight_sram holds .* more than its"),
        (drop_a_load, "before anything wrote it"),
        (read_what_has_no_place, "reads ghost@0, which has no place"),
        (write_what_has_no_place, "writes ghost@0, which has no place"),
        (drop_a_tile, "tiles write .* of .* elements"),
        (write_twice, "two tiles write the same part"),
        (leave_the_output, "a store leaves the output"),
    ],
)
def test_planted_fault_is_found(plan: dict[str, Any], plant: Callable[[dict[str, Any]], None], message: str) -> None:
    import re

    damaged = copy.deepcopy(plan)
    plant(damaged)
    assert any(re.search(message, fault) for fault in verify(damaged, SIRACUSA)), verify(damaged, SIRACUSA)[:3]
