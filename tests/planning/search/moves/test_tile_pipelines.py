"""Pipelines of tiles: every layer in steps of about equal length, another form where it leaves less to the cores."""

from dataclasses import replace
from functools import cache

import pytest

from tvm_pulp.api import Compilation, CompileOptions
from tvm_pulp.planning.search import find_plan
from tvm_pulp.planning.search.evaluate import evaluate
from tvm_pulp.planning.search.moves.table import MOVES
from tvm_pulp.planning.search.moves.tile_pipelines import can_gain, change_form, pipeline_rows, pipelined
from tvm_pulp.planning.search.problem import Problem
from tvm_pulp.planning.tiling.forms.cuts import Tiling
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.planning.tiling.schedule import Decisions
from tvm_pulp.uma.recipe import Call, Job, Kernel

CYCLES = next(move.values for move in MOVES if move.name == "pipeline")


class _Stop(Exception):
    """The search is not needed."""


@cache
def first_plan() -> tuple[Problem, Plan]:
    """A small residual network, and its plan without overlap."""
    found: list[tuple[Problem, Decisions]] = []

    def stop(problem: Problem, start: Decisions, _effort: str) -> Plan:
        found.append((problem, start))
        raise _Stop

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(find_plan, "_find", stop)
        with pytest.raises(_Stop):
            _ = Compilation("zoo:resnet8", CompileOptions(target="uma-neureka")).plan
    rules, (problem, start) = find_plan.rules, found[0]
    return problem, evaluate(problem, rules.rule_decisions(problem, start, 1, rules.whole_l1(problem, start)))


def test_layers_in_steps_of_about_equal_length() -> None:
    problem, plan = first_plan()
    assert can_gain(plan)
    *_, (name, finest) = pipelined(plan.decisions, CYCLES)
    # A cut that another number of cycles gave already is not tried again.
    assert name.startswith("all rows by") and finest.interleave
    for layer, before, after in zip(plan.layers, plan.decisions.choices, finest.choices, strict=True):
        rows = next((extent for extent in layer.layer.outputs[0].spec.shape if extent > 1), 1)
        longest = max(step.cost.cycles for step in _steps(before.tiling))
        if rows >= 16 and longest > 8000:
            assert len(after.tiling.tiles) >= 3, layer.layer.name
    made = evaluate(problem, finest)
    order = [slot.layer for slot in made.schedule.slots]
    assert order != sorted(order) and made.estimated_cycles < 0.9 * plan.estimated_cycles


def test_no_cut_is_tried_twice() -> None:
    _, plan = first_plan()
    tried = [w.choices for _, w in pipelined(plan.decisions, CYCLES)]
    cuts = [tuple((c.tiling.form.name, c.tiling.size, c.two_copies) for c in choices) for choices in tried]
    assert len(set(cuts)) == len(cuts) > 1
    *_, (_, finest) = pipelined(plan.decisions, CYCLES)
    assert all(w.choices != finest.choices for _, w in pipelined(finest, CYCLES))


def test_only_layers_of_so_many_rows() -> None:
    problem, plan = first_plan()
    plan = replace(plan, decisions=replace(plan.decisions, interleave=True))
    for name, wanted in pipeline_rows(problem, plan, CYCLES, 1):
        changed = [
            layer.layer.outputs[0].spec.shape[1]
            for layer, a, b in zip(plan.layers, plan.decisions.choices, wanted.choices, strict=True)
            if a.tiling is not b.tiling
        ]
        assert set(changed) <= {16} and name.startswith("16 rows")
    assert not list(pipeline_rows(problem, plan, CYCLES, 99))


def test_another_form_is_one_of_the_same_engine() -> None:
    problem, plan = first_plan()
    decisions = replace(plan.decisions, interleave=True)
    mixed = replace(plan, decisions=decisions)
    changes = [wanted for turn in range(6) for _, wanted in change_form(problem, mixed, CYCLES, turn)]
    assert changes
    for wanted in changes:
        pairs = zip(decisions.choices, wanted.choices, strict=True)
        ((before, after),) = [(a.tiling.form, b.tiling.form) for a, b in pairs if a.tiling is not b.tiling]
        assert before is not after and before.engine == after.engine == "neureka"


def test_a_form_that_saves_little_is_not_tried() -> None:
    """Nobody gains more than engine and cores save: less than a hundredth of the plan's cycles is not worth a plan."""
    problem, plan = first_plan()
    mixed = replace(plan.decisions, interleave=True)
    longer = replace(plan, estimated_cycles=1000 * plan.estimated_cycles, decisions=mixed)
    assert not any(True for turn in range(6) for _ in change_form(problem, longer, CYCLES, turn))


def test_nothing_to_gain_without_jobs() -> None:
    _, plan = first_plan()
    cores = [layer for layer in plan.layers if not any(isinstance(step, Job) for step in _steps(layer.tiling))]
    assert cores and not can_gain(replace(plan, layers=tuple(cores)))


def _steps(tiling: Tiling) -> list[Job | Kernel | Call]:
    return [step for recipe in tiling.recipes for step in recipe.steps if isinstance(step, Job | Kernel | Call)]
