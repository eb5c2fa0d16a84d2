"""Moves that change transfers.

Bundles of neighbouring layers: fewer transfers, nothing left out, none larger than asked for. Constants from L3 in
batches: a batch is issued when the one before is first used, and is never late. Layers that mix: first tiles follow
each other through the network, and the plan can be read again.
"""

import json
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import cast

import pytest

import tvm_pulp
from tests.planning.search.real_plans import PLANS
from tests.planning.tir.small_plans import L1_BYTES, two_tiles
from tvm_pulp.compilation import Compilation
from tvm_pulp.planning.search.moves.transfers import join_bundles
from tvm_pulp.planning.search.problem import Problem
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.planning.tiling.schedule.build_program import build_program
from tvm_pulp.planning.tiling.schedule.decisions import Policy
from tvm_pulp.planning.tiling.schedule.program import Bundle, Program
from tvm_pulp.qnn.network import Tensor

LAYERS = 6


def schedule_in_bundles(size: int) -> Program:
    plan = two_tiles(overlap=True, layers=LAYERS).plan
    policy = Policy(leads=dict.fromkeys(range(LAYERS), 1), bundle_bytes=size)
    return build_program(plan.network, plan.layers, policy, L1_BYTES)


@pytest.mark.parametrize(("size", "bundles"), [(0, LAYERS), (600, LAYERS // 2), (4096, 1)])
def test_layers_share_bundles(size: int, bundles: int) -> None:
    schedule = schedule_in_bundles(size)
    assert len(schedule.bundles) == bundles
    # Each arrives once, before the first step that it describes; every step has its record in one of them.
    moves = {m.source: m for m in schedule.moves if isinstance(m.source, Bundle)}
    assert list(moves) == list(schedule.bundles)
    described = [slot for bundle in schedule.bundles for slot in bundle.descriptors]
    assert described == list(range(len(schedule.slots)))
    for bundle, move in moves.items():
        assert move.position < 3 * min(bundle.descriptors) + 2
        assert move.place.block.last >= 3 * max(bundle.descriptors)
        assert not size or bundle.bytes <= size


def test_only_networks_of_small_layers() -> None:
    """Of a plan without overlap nothing is tried: the evaluator is not even asked."""
    plan = two_tiles(overlap=False, layers=LAYERS).plan
    assert list(join_bundles(cast(Problem, None), plan, (1024,), 0)) == []


@cache
def streaming_plan() -> Plan:
    model, options = PLANS["autoencoder"]
    return Compilation(model, options).plan


def schedule_in_batches(batch: int) -> Program:
    plan = streaming_plan()
    return build_program(plan.network, plan.layers, replace(plan.policy, l3_batch=batch), plan.l1_bytes)


def first_uses(schedule: Program) -> dict[Tensor, int]:
    found: dict[Tensor, int] = {}
    for move in schedule.moves:
        if isinstance(move.source, Tensor) and streaming_plan().policy.level(move.source) == "l3":
            found.setdefault(move.source.storage, max(move.position, 0))
    return found


@pytest.mark.parametrize("batch", [0, 20000, 40000, 1 << 20])
def test_batches_are_large_enough_and_early_enough(batch: int) -> None:
    schedule = schedule_in_batches(batch)
    uses = first_uses(schedule)
    batches: dict[int, list[Tensor]] = {}
    for fetch in schedule.fetches:
        assert fetch.position < uses[fetch.tensor]
        batches.setdefault(fetch.position, []).append(fetch.tensor)
    assert sorted(t.name for group in batches.values() for t in group) == sorted(t.name for t in uses)
    sizes = [sum(t.spec.bytes for t in group) for group in batches.values()]
    assert all(size >= batch for size in sizes[:-1])
    starts = [min(uses[t] for t in group) for group in batches.values()]
    issued = list(batches)
    assert issued == sorted(issued) and all(start < end for start, end in zip(issued, starts, strict=True))


def test_larger_batches_need_more_of_l2() -> None:
    lives = [schedule_in_batches(batch).l2_alive for batch in (0, 40000)]
    tensors = first_uses(schedule_in_batches(0))
    assert any(lives[1][t][0] < lives[0][t][0] for t in tensors)
    assert all(lives[1][t][0] <= lives[0][t][0] for t in tensors)


@pytest.mark.slow
def test_first_tiles_follow_each_other(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime.quantization")
    from tests.real_models import catalog

    model = catalog.write("dscnn", tmp_path)
    app = tvm_pulp.compile(model, target="uma-neureka")
    plan = json.loads(app.files["plan.json"])
    assert plan["interleave"]
    rows = [layer["tile"][1] for layer in plan["layers"] if layer["op"] == "conv2d"]
    # Pointwise layers have as many rows as there are, depthwise ones lose one to their border.
    assert sum(a - b in (0, 1) for a, b in pairwise(rows)) >= 6
    (tmp_path / "plan.json").write_bytes(app.files["plan.json"])
    assert tvm_pulp.compile(model, target="uma-neureka", plan=tmp_path / "plan.json").files == app.files


@pytest.mark.slow
def test_layers_follow_each_other_where_l1_is_too_small_to_mix_them(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime.quantization")
    from tests.real_models import catalog

    app = tvm_pulp.compile(catalog.write("yolo", tmp_path), target="uma-neureka", l1=49152)
    assert json.loads(app.files["plan.json"])["l1_peak"] <= 49152
