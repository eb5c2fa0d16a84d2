"""Constants from L3 in batches: a batch is issued when the one before is first used, and is never late."""

from dataclasses import replace
from functools import cache

import pytest

from tests.planning.search.real_plans import PLANS
from tvm_pulp.compilation import Compilation
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.planning.tiling.schedule.build_schedule import build_schedule
from tvm_pulp.planning.tiling.schedule.schedule import Schedule
from tvm_pulp.planning.tiling.schedule.tiled_layer import TiledLayer
from tvm_pulp.qnn.network import Tensor


@cache
def streaming_plan() -> Plan:
    model, options = PLANS["autoencoder"]
    return Compilation(model, options).plan


def schedule_with(batch: int) -> Schedule:
    plan = streaming_plan()
    tiled_layers = [TiledLayer(layer.recipes, layer.two_copies) for layer in plan.layers]
    return build_schedule(plan.network, tiled_layers, replace(plan.policy, l3_batch=batch), plan.l1_bytes)


def first_uses(schedule: Schedule) -> dict[Tensor, int]:
    found: dict[Tensor, int] = {}
    for move in schedule.moves:
        if isinstance(move.source, Tensor) and streaming_plan().policy.level(move.source) == "l3":
            found.setdefault(move.source.storage, max(move.position, 0))
    return found


@pytest.mark.parametrize("batch", [0, 20000, 40000, 1 << 20])
def test_batches_are_large_enough_and_early_enough(batch: int) -> None:
    schedule = schedule_with(batch)
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
    lives = [schedule_with(batch).l2_alive for batch in (0, 40000)]
    tensors = first_uses(schedule_with(0))
    assert any(lives[1][t][0] < lives[0][t][0] for t in tensors)
    assert all(lives[1][t][0] <= lives[0][t][0] for t in tensors)
