"""Lifetimes: from the load, or the step that first writes, to the last step, store or record that needs a block."""

from tests.planning.tiling.schedule.choices import finished_jobs
from tests.planning.tir.small_plans import two_tiles
from tvm_pulp.planning.program.positions import compute_position, load_position, store_position
from tvm_pulp.planning.tiling.schedule import Policy, build_program
from tvm_pulp.planning.tiling.schedule.program import Program


def lives(program: Program) -> dict[str, list[tuple[int, int]]]:
    """First and last position of all blocks of a name."""
    found: dict[str, list[tuple[int, int]]] = {}
    for block in program.blocks:
        found.setdefault(block.name, []).append((block.first, block.last))
    return found


def test_the_next_tile_lies_beside_the_one_that_is_computed() -> None:
    found = lives(two_tiles(overlap=True).plan.schedule)
    # What the entry function loads is there when the first step begins.
    assert found["x0"] == [(0, compute_position(0)), (compute_position(0), compute_position(1))]
    # The first result leaves beside the second step, the last one behind it.
    assert found["y0"] == [(compute_position(0), compute_position(1)), (compute_position(1), store_position(2))]
    assert found["bundle_0"] == [(0, load_position(2))]


def test_without_overlap_tiles_follow_each_other() -> None:
    found = lives(two_tiles(overlap=False).plan.schedule)
    assert found["x0"] == [(0, compute_position(0)), (load_position(1), compute_position(1))]
    assert found["y0"] == [(compute_position(0), store_position(1)), (compute_position(1), store_position(2))]


def test_jobs_need_their_operands_when_the_next_step_has_begun() -> None:
    network, choices = finished_jobs()
    program = build_program(network, choices, Policy(), 1 << 16)
    # Jobs of both tiles, then the kernels that finish them: of the first job until the second has begun.
    assert lives(program)["x0"][0] == (0, compute_position(1))
    sums = [life for layer in ("sums",) for life in lives(program)[layer]]
    assert sums[0] == (compute_position(0), compute_position(2))


def test_a_bundle_of_several_layers_stays_until_the_last_of_them_is_over() -> None:
    network, choices = finished_jobs()
    resident = {network.layers[1].inputs[0]: frozenset({1})}
    policy = Policy(interleave=True, resident=resident, bundle_bytes=4096)
    program = build_program(network, choices, policy, 1 << 16)
    (bundle,) = program.bundles
    steps = len(program.order.all)
    assert sorted(bundle.descriptors) == list(range(steps))
    assert lives(program)[bundle.name] == [(0, load_position(steps))]
