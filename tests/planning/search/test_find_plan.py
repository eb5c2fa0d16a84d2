"""The search for a plan: where it starts from."""

from dataclasses import replace

import pytest

from tests.planning.search.test_attempts import given
from tvm_pulp.planning.search import find_plan as search
from tvm_pulp.planning.search.attempts import Attempt, TileLimit
from tvm_pulp.planning.search.evaluate import evaluate
from tvm_pulp.planning.search.problem import Problem
from tvm_pulp.planning.search.seeds.rules import JUST_IN_TIME, rule_decisions, whole_l1
from tvm_pulp.planning.search.solver import SolverAttempts


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
    problem, start = given()
    finer = [TileLimit(problem.l1_bytes // 8)] * len(start.layers)
    wanted = (rule_decisions(problem, start, JUST_IN_TIME, n) for n in (whole_l1(problem, start), finer))
    plan, other = (evaluate(problem, decisions) for decisions in wanted)
    solved = Attempt("solver, round 1", replace(other, estimated_cycles=1000))
    monkeypatch.setattr(search.SolverRounds, "run", lambda _rounds, _tried: SolverAttempts([solved]))
    gain = {"rules": 200, "solver, round 1": 20}

    def improve(_problem: Problem, best: Attempt) -> tuple[Attempt, int]:
        better = replace(plan, estimated_cycles=best.cycles - gain[best.name])
        return Attempt(f"{best.name}, varied", better), 1

    monkeypatch.setattr(search, "improve", improve)
    same = replace(other, estimated_cycles=by_rules - 5)
    tried = [Attempt("rules", replace(plan, estimated_cycles=by_rules)), Attempt("same cuts", same)]
    made = search._best(replace(problem, l2_bytes=1 << 30), start, tried)
    assert made.planner.chosen == found
    assert made.estimated_cycles == {"rules, varied": by_rules - 200}.get(found, 980)


@pytest.mark.parametrize(("gain", "found"), [(5, "solver, round 1, varied"), (50, "solver, round 2, varied")])
def test_another_plan_of_the_solver_is_varied_where_variations_gain_little(
    monkeypatch: pytest.MonkeyPatch, gain: int, found: str
) -> None:
    problem, start = given()
    finer = [TileLimit(problem.l1_bytes // 8)] * len(start.layers)
    wanted = (rule_decisions(problem, start, JUST_IN_TIME, n) for n in (whole_l1(problem, start), finer))
    plan, other = (evaluate(problem, decisions) for decisions in wanted)
    solved = [
        Attempt("solver, round 1", replace(other, estimated_cycles=1005)),
        Attempt("solver, round 2", replace(plan, estimated_cycles=1000)),
    ]
    monkeypatch.setattr(search.SolverRounds, "run", lambda _rounds, _tried: SolverAttempts(solved))
    gains = {"solver, round 1": 300, "solver, round 2": gain}

    def improve(_problem: Problem, best: Attempt) -> tuple[Attempt, int]:
        made = replace(best.plan, estimated_cycles=best.cycles - gains[best.name])
        return Attempt(f"{best.name}, varied", made), 1

    monkeypatch.setattr(search, "improve", improve)
    tried = [Attempt("rules", replace(plan, estimated_cycles=2000))]
    assert search._best(replace(problem, l2_bytes=1 << 30), start, tried).planner.chosen == found
