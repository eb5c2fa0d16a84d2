"""The search for a plan: where it starts from."""

from dataclasses import replace

import pytest

from tests.planning.search.test_attempts import evaluator
from tvm_pulp.planning.search import find_plan as search
from tvm_pulp.planning.search.attempts import Attempt, PlanEvaluator, TileLimit
from tvm_pulp.planning.search.heuristics.policies import JUST_IN_TIME, policy_decisions, whole_l1
from tvm_pulp.planning.search.solver import SolverAttempts
from tvm_pulp.planning.tiling.schedule.decisions import InL3


@pytest.mark.parametrize(
    ("by_rules", "found"),
    [
        pytest.param(1010, "rules, varied", id="close: both are varied"),
        pytest.param(1100, "solver, round 1, varied", id="clearly behind"),
    ],
)
def test_a_plan_by_rules_is_varied_too_where_the_solvers_is_hardly_faster(
    monkeypatch: pytest.MonkeyPatch, by_rules: int, found: str
) -> None:
    on = evaluator()
    whole, finer = whole_l1(on), [TileLimit(on.l1_bytes // 8)] * len(on.network.layers)
    plan, other = (on.plan(policy_decisions(on, JUST_IN_TIME, limits, InL3(None))) for limits in (whole, finer))
    solved = Attempt("solver, round 1", replace(other, estimated_cycles=1000))
    monkeypatch.setattr(search.SolverRounds, "run", lambda _rounds, _tried: SolverAttempts([solved]))
    gain = {"rules": 200, "solver, round 1": 20}

    def vary(_evaluator: PlanEvaluator, best: Attempt, _variation: object) -> list[Attempt]:
        if best.name not in gain:
            return []
        return [Attempt(f"{best.name}, varied", replace(plan, estimated_cycles=best.cycles - gain[best.name]))]

    monkeypatch.setattr(search, "vary", vary)
    monkeypatch.setattr(search, "join_attempts", lambda *_: [])
    same = replace(other, estimated_cycles=by_rules - 5)
    tried = [Attempt("rules", replace(plan, estimated_cycles=by_rules)), Attempt("same cuts", same)]
    made = search._best(on, tried, overlap=True, l2_bytes=1 << 30)
    assert made.planner.chosen == found
    assert made.estimated_cycles == {"rules, varied": by_rules - 200}.get(found, 980)
