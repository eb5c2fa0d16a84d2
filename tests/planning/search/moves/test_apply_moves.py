"""Moves are tried one after the other, from what is clearly the fastest so far, and no longer than they may pay."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.planning.search.test_attempts import given
from tvm_pulp.planning.search.attempts import Attempt
from tvm_pulp.planning.search.evaluate import evaluate
from tvm_pulp.planning.search.moves import MOVES, Tried, improve, propose, watch_moves
from tvm_pulp.planning.search.moves.move import Proposals, SearchMove
from tvm_pulp.planning.search.moves.table import LONG_PLAN
from tvm_pulp.planning.search.problem import Problem
from tvm_pulp.planning.search.seeds.rules import JUST_IN_TIME, rule_decisions, whole_l1
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.planning.tiling.schedule import Decisions

MODULE = "tvm_pulp.planning.search.moves.apply_moves"


def by_rule() -> tuple[Problem, Plan]:
    problem, start = given()
    plan = evaluate(problem, rule_decisions(problem, start, JUST_IN_TIME, whole_l1(problem, start)))
    return replace(problem, l2_bytes=1 << 30), plan


def no_proposals(_problem: Problem, _plan: Plan, _values: object, _turn: int) -> Proposals:
    yield from ()


@pytest.mark.parametrize(("first", "found"), [(999, "start, b"), (990, "start, a, b")])
def test_only_what_is_clearly_faster_is_moved_further(monkeypatch: pytest.MonkeyPatch, first: int, found: str) -> None:
    problem, plan = by_rule()

    def proposed(_problem: Problem, best: Attempt, move: SearchMove, _turn: int) -> Iterator[Attempt]:
        cycles = first if move.name == "a" else best.cycles - 100
        yield Attempt(f"{best.name}, {move.name}", replace(plan, estimated_cycles=cycles))

    monkeypatch.setattr(f"{MODULE}.MOVES", (SearchMove("a", no_proposals, ()), SearchMove("b", no_proposals, ())))
    monkeypatch.setattr(f"{MODULE}.propose", proposed)
    monkeypatch.setattr(f"{MODULE}._crossings", lambda *_: iter(()))
    told: list[Tried] = []
    with watch_moves(told.append):
        best, count = improve(problem, Attempt("start", replace(plan, estimated_cycles=1000)))
    assert (best.name, count) == (found, 2)
    assert told == [Tried("a", 1000, first, 1), Tried("b", 1000 if first == 999 else first, best.cycles, 1)]


@pytest.mark.parametrize(
    ("cycles", "made"),
    [
        ((1010, 1020, 900), 2),  # two in a row that are slower
        ((1010, 1005, 900), 3),  # back again
        ((990, 995, 900), 3),  # slower than the one before, faster than the best
        ((1051, 900, 900), 1),  # hopeless
    ],
)
def test_a_move_ends_where_it_goes_into_the_wrong_direction(
    monkeypatch: pytest.MonkeyPatch, cycles: tuple[int, ...], made: int
) -> None:
    problem, plan = by_rule()
    assert len(plan.schedule.slots) <= LONG_PLAN

    def proposals(_problem: Problem, decided: Plan, values: tuple[int, ...], _turn: int) -> Proposals:
        for value in values:
            yield str(value), replace(decided.decisions, l3_batch=value)

    def evaluated(_problem: Problem, decisions: Decisions) -> Plan:
        return replace(plan, estimated_cycles=decisions.l3_batch)

    monkeypatch.setattr(f"{MODULE}.evaluate", evaluated)
    best = Attempt("start", replace(plan, estimated_cycles=1000))
    assert len(list(propose(problem, best, SearchMove("m", proposals, cycles)))) == made


def test_a_move_leaves_long_plans_alone() -> None:
    problem, plan = by_rule()

    def proposals(_problem: Problem, decided: Plan, _values: object, _turn: int) -> Proposals:
        yield "same", decided.decisions

    for most, count in ((None, 1), (len(plan.schedule.slots), 1), (len(plan.schedule.slots) - 1, 0)):
        assert len(list(SearchMove("m", proposals, (), most_steps=most).proposals(problem, plan, 0))) == count


def test_moves_have_names_of_their_own() -> None:
    assert len({move.name for move in MOVES}) == len(MOVES)
