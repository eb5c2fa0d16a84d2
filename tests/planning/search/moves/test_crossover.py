"""Two plans as one: runs of layers that the other plan makes faster, begun when what is before them is over."""

from dataclasses import replace

from tests.planning.search.moves.test_tile_pipelines import CYCLES, first_plan
from tvm_pulp.planning.search.evaluate import evaluate
from tvm_pulp.planning.search.moves.crossover import crossed
from tvm_pulp.planning.search.moves.tile_pipelines import pipelined
from tvm_pulp.planning.tiling.plan import Plan


def with_cycles(plan: Plan, added: dict[int, int], early: dict[int, int]) -> Plan:
    """The plan with other expectations of its layers."""
    layers = [
        replace(layer, added_cycles=added.get(i, 10_000), early_cycles=early.get(i, 0))
        for i, layer in enumerate(plan.layers)
    ]
    return replace(plan, layers=tuple(layers), estimated_cycles=sum(layer.added_cycles for layer in layers))


def test_a_run_of_layers_from_another_plan() -> None:
    problem, plan = first_plan()
    _, wanted = next(iter(pipelined(plan.decisions, CYCLES)))
    other = evaluate(problem, wanted)
    best = with_cycles(plan, {}, {})
    joined = crossed(best, with_cycles(other, {2: 30_000, 3: 4_000, 4: 5_000, 6: 30_000}, {}))
    assert joined is not None and joined.interleave
    taken = [choice is other.decisions.choices[i] for i, choice in enumerate(joined.choices)]
    same = [mine is theirs for mine, theirs in zip(plan.decisions.choices, other.decisions.choices, strict=True)]
    assert all(t or s for t, s in zip(taken[3:5], same[3:5], strict=True))
    assert not taken[6] or same[6]
    # The run begins apart, its second layer joins it as in the plan that it is from.
    assert 3 in joined.apart and 4 not in joined.apart
    made = evaluate(problem, joined)
    order = [slot.layer for slot in made.schedule.slots]
    assert max(i for i, layer in enumerate(order) if layer < 3) < order.index(3)


def test_nothing_to_gain() -> None:
    problem, plan = first_plan()
    _, wanted = next(iter(pipelined(plan.decisions, CYCLES)))
    other, best = evaluate(problem, wanted), with_cycles(plan, {}, {})
    assert crossed(best, with_cycles(other, {}, {})) is None
    # What a layer did before the end of others is still to do where a run begins.
    assert crossed(best, with_cycles(other, {2: 15_000, 3: 4_000}, {3: 7_000})) is None
