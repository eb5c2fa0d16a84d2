"""The constraint solver: deterministic, with limits in its own time instead of seconds."""

from __future__ import annotations

from dataclasses import replace

from tvm_pulp.tiling.solver_model import Problem, Solution, SolverModel

_SEED = 1
# The model is not more precise than this.
_GAP = 0.0005


def solve(problem: Problem, hint: Solution | None, deterministic_time: float) -> Solution | None:
    """The best decisions found within the time; None if there are none. One worker, so that it is reproducible."""
    from ortools.sat.python import cp_model

    model = SolverModel(problem, cp_model.CpModel())
    model.build()
    if hint is not None:
        model.hint(hint)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = _SEED
    solver.parameters.max_deterministic_time = deterministic_time
    solver.parameters.relative_gap_limit = _GAP
    # The relaxation is nearly exact: most of the work is linear.
    solver.parameters.linearization_level = 2
    solver.parameters.repair_hint = True
    status = solver.solve(model.cp)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    return replace(
        model.read(solver),
        status="optimal" if status == cp_model.OPTIMAL else "feasible",
        objective=round(solver.objective_value),
        bound=round(solver.best_objective_bound),
        deterministic_time=round(solver.response_proto.deterministic_time, 6),
        seconds=solver.wall_time,
    )
