"""A try changes nothing but itself: any order of tries gives the same plans, and the network stays as it was."""

import json
from dataclasses import fields, replace
from typing import Any

from tests.planning.search.real_plans import PLANS
from tvm_pulp.compilation import Compilation
from tvm_pulp.planning.search.evaluate import evaluate
from tvm_pulp.planning.search.problem import Problem
from tvm_pulp.planning.search.seeds.rules import JUST_IN_TIME, rule_decisions, whole_l1
from tvm_pulp.planning.tiling.forms.offered_forms import offered_forms
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.planning.tiling.schedule.decisions import Decisions
from tvm_pulp.planning.tir.describe import describe
from tvm_pulp.planning.tir.lower import lower
from tvm_pulp.qnn.network import Network
from tvm_pulp.uma.annotate import Annotated

# Bytes from which on constants come from L3; None: none does. With and without overlap.
TRIES = [(JUST_IN_TIME, None), (JUST_IN_TIME, 4096), (0, 65536), (1, None)]


def given() -> tuple[Problem, Decisions]:
    """A network, and where decisions about it begin."""
    model, options = PLANS["autoencoder"]
    compilation = Compilation(model, options)
    target, network = compilation.target, compilation.network
    forms = offered_forms(network.layers, Annotated(network, ()), target.soc, [], target.cores)
    problem = Problem(network, forms, (), target.soc, target.cores, target.l1_bytes(0), target.l2_bytes())
    return problem, Decisions(tuple(forms))


def tried(problem: Problem, start: Decisions, lead: int, l3_from: int | None) -> Plan:
    return evaluate(problem, rule_decisions(problem, start, lead, whole_l1(problem, start), l3_from))


def described(plan: Plan) -> str:
    return json.dumps(describe(lower(plan)), default=str)


def state(network: Network) -> list[Any]:
    """Everything that layers and tensors say, data apart."""
    tensors = {t.name: t for layer in network.layers for t in layer.operands}
    told = [[(f.name, str(getattr(t, f.name))) for f in fields(t) if f.name != "data"] for t in tensors.values()]
    return [told, [(layer.name, layer.operator, str(layer.attributes)) for layer in network.layers]]


def test_tries_in_any_order_and_in_isolation_are_the_same_plans() -> None:
    problem, start = given()
    before = state(problem.network)
    forward = [tried(problem, start, *entry) for entry in TRIES]
    at_once = [described(tried(problem, start, *entry)) for entry in TRIES]
    problem.plans.clear()
    backward = [tried(problem, start, *entry) for entry in reversed(TRIES)][::-1]
    isolated = [described(tried(*given(), *entry)) for entry in TRIES]
    # The first try is described after all others were made.
    assert [described(plan) for plan in forward] == at_once == [described(plan) for plan in backward] == isolated
    assert state(problem.network) == before
    assert len(set(at_once)) == len(TRIES), "the tries differ"
    assert ["l3" in set(plan.constants().values()) for plan in forward] == [False, True, True, False]


def test_levels_of_constants_can_be_read_from_every_plan() -> None:
    far, near = (tried(*given(), 0, l3_from) for l3_from in (4096, None))
    assert near.constants_in("l3") == 0 < far.constants_in("l3")
    assert near.constants_in("l2") == far.constants_in("l2") + far.constants_in("l3")
    first = next(iter(near.constants()))
    moved = near.with_levels({first: "l3"})
    assert (moved.policy.level(first), near.policy.level(first), first.level) == ("l3", "l2", "l2")
    assert moved.decisions.levels == {first: "l3"}


def test_what_was_asked_for_lately_is_not_made_again() -> None:
    problem, start = given()
    first = tried(problem, start, JUST_IN_TIME, None)
    assert tried(problem, start, JUST_IN_TIME, None) is first
    for number in range(40):
        wanted = replace(first.decisions, bundle_bytes=number)
        assert evaluate(problem, wanted) is not first
    assert len(problem.plans) < 40 and tried(problem, start, JUST_IN_TIME, None) is not first


def test_decisions_that_fit_make_the_same_plan_again() -> None:
    """What was weakened to fit is all that a plan needs: nothing is weakened twice."""
    problem, start = given()
    for plan in (tried(problem, start, *entry) for entry in TRIES):
        problem.plans.clear()
        assert described(evaluate(problem, plan.decisions)) == described(plan)
