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


@pytest.mark.parametrize(("gain", "found"), [(5, "solver, round 1, varied"), (50, "solver, round 2, varied")])
def test_another_plan_of_the_solver_is_varied_where_variations_gain_little(
    monkeypatch: pytest.MonkeyPatch, gain: int, found: str
) -> None:
    on = evaluator()
    whole, finer = whole_l1(on), [TileLimit(on.l1_bytes // 8)] * len(on.network.layers)
    plan, other = (on.plan(policy_decisions(on, JUST_IN_TIME, limits, InL3(None))) for limits in (whole, finer))
    solved = [
        Attempt("solver, round 1", replace(other, estimated_cycles=1005)),
        Attempt("solver, round 2", replace(plan, estimated_cycles=1000)),
    ]
    monkeypatch.setattr(search.SolverRounds, "run", lambda _rounds, _tried: SolverAttempts(solved))
    gains = {"solver, round 1": 300, "solver, round 2": gain}

    def vary(_evaluator: PlanEvaluator, best: Attempt, _variation: object) -> list[Attempt]:
        made = replace(best.plan, estimated_cycles=best.cycles - gains.get(best.name, 0))
        return [Attempt(f"{best.name}, varied", made)] if best.name in gains else []

    monkeypatch.setattr(search, "vary", vary)
    monkeypatch.setattr(search, "join_attempts", lambda *_: [])
    tried = [Attempt("rules", replace(plan, estimated_cycles=2000))]
    assert search._best(on, tried, overlap=True, l2_bytes=1 << 30).planner.chosen == found


@pytest.mark.parametrize(("first", "found"), [(999, "start, b"), (990, "start, a, b")])
def test_only_what_is_clearly_faster_is_varied_further(monkeypatch: pytest.MonkeyPatch, first: int, found: str) -> None:
    on = evaluator()
    plan = on.plan(policy_decisions(on, JUST_IN_TIME, whole_l1(on), InL3(None)))

    def vary(_evaluator: PlanEvaluator, best: Attempt, variation: str) -> list[Attempt]:
        cycles = first if variation == "a" else best.cycles - 100
        return [Attempt(f"{best.name}, {variation}", replace(plan, estimated_cycles=cycles))]

    monkeypatch.setattr(search, "VARIATIONS", ("a", "b"))
    monkeypatch.setattr(search, "vary", vary)
    monkeypatch.setattr(search, "join_attempts", lambda *_: [])
    best, count = search._vary(on, Attempt("start", replace(plan, estimated_cycles=1000)), 1 << 30)
    assert (best.name, count) == (found, 2)
