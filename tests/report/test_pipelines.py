"""Pipelines of tiles as a plan shows them."""

from io import StringIO
from itertools import pairwise

from tests.planning.search.moves.test_tile_pipelines import CYCLES, first_plan
from tvm_pulp.planning.search.evaluate import evaluate
from tvm_pulp.planning.search.moves.tile_pipelines import pipelined
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.planning.tir.describe import describe
from tvm_pulp.planning.tir.lower import lower
from tvm_pulp.report.pipelines import pipelines
from tvm_pulp.report.plan_table import print_plan


def printed(plan: Plan) -> str:
    stream = StringIO()
    print_plan(plan, stream, describe(lower(plan)))
    return " ".join(stream.getvalue().split())


def test_layers_that_take_turns_are_a_pipeline() -> None:
    problem, plan = first_plan()
    *_, (_, wanted) = pipelined(plan.decisions, CYCLES)
    mixed = evaluate(problem, wanted)
    found = pipelines(describe(lower(mixed)))
    order = [slot.layer for slot in mixed.schedule.slots]
    for layers in found:
        assert layers == list(range(layers[0], layers[-1] + 1)) and len(layers) > 1
        for before, layer in pairwise(layers):
            assert order.index(layer) < max(i for i, other in enumerate(order) if layers[0] <= other <= before)
    assert found and "pipeline of tiles: " in printed(mixed)
    names = [mixed.network.layers[layer].name for layer in found[0]]
    assert " > ".join(names) in printed(mixed)


def test_layers_one_after_the_other_are_none() -> None:
    _, plan = first_plan()
    assert pipelines(describe(lower(plan))) == [] and "pipeline of tiles" not in printed(plan)
