"""The solver is asked as long as its plans are faster than all before; a first one that is near has a second."""

from typing import Any

import pytest

from tvm_pulp.api import Compilation, CompileOptions
from tvm_pulp.planning.search.solver import ask_solver
from tvm_pulp.planning.search.solver.problem import Solution, SolverProblem
from tvm_pulp.planning.search.solver.solve import solve


def test_a_much_slower_plan_ends_the_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The solver's model of small dense layers is off by more than a tenth: asking again would take time only."""
    asked = 0

    def count(problem: SolverProblem, hint: Solution | None, time: float) -> Any:
        nonlocal asked
        asked += 1
        return solve(problem, hint, time)

    monkeypatch.setattr(ask_solver, "solve", count)
    planner = Compilation("zoo:autoencoder", CompileOptions(target="c", soc="siracusa")).lowered.plan.planner
    assert asked == 1 and planner is not None and not planner.chosen.startswith("solver")
