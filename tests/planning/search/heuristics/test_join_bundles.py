"""Bundles of neighbouring layers: fewer transfers, nothing left out, none larger than asked for."""

from dataclasses import replace

import pytest

from tests.planning.tir.small_plans import L1_BYTES, two_tiles
from tvm_pulp.planning.search.attempts.attempt import Attempt
from tvm_pulp.planning.search.heuristics.join_bundles import join_bundles
from tvm_pulp.planning.tiling.schedule.build_schedule import build_schedule
from tvm_pulp.planning.tiling.schedule.schedule import Bundle, Schedule
from tvm_pulp.planning.tiling.schedule.tiled_layer import Policy, TiledLayer

LAYERS = 6


def schedule_with(size: int) -> Schedule:
    plan = two_tiles(overlap=True, layers=LAYERS).plan
    tiled_layers = [TiledLayer(layer.recipes, layer.two_copies) for layer in plan.layers]
    policy = Policy({}, dict.fromkeys(range(LAYERS), 1), bundle_bytes=size)
    return build_schedule(plan.network, tiled_layers, policy, L1_BYTES)


@pytest.mark.parametrize(("size", "bundles"), [(0, LAYERS), (600, LAYERS // 2), (4096, 1)])
def test_layers_share_bundles(size: int, bundles: int) -> None:
    schedule = schedule_with(size)
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
    attempt = Attempt("one", replace(plan, overlap=False))
    assert list(join_bundles(None, attempt)) == []  # type: ignore[arg-type]
