"""The constraint solver: deterministic, with limits in its own time instead of seconds."""

import math
from dataclasses import replace

from ortools.sat.python import cp_model

from tvm_pulp.planning.search.solver.problem import Problem, Solution
from tvm_pulp.planning.search.solver.solver_model import CYCLE_WEIGHT, SolverModel

_SEED = 1
# The model is not more precise than this.
_GAP = 0.0005


def solve(problem: Problem, hint: Solution | None, deterministic_time: float) -> Solution | None:
    """The best decisions found within the time; None if there are none. One worker, so that it is reproducible."""
    model = SolverModel(problem)
    used = seconds = 0.0
    if hint is not None:
        model.hint(hint)
        # What follows from the hinted decisions is found first: a complete solution is a far better hint.
        solver = _solver(deterministic_time)
        solver.parameters.fix_variables_to_their_hinted_value = True
        if solver.solve(model.cp) in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            model.hint_everything(solver)
        used, seconds = solver.response_proto.deterministic_time, solver.wall_time
    solver = _solver(deterministic_time)
    status = solver.solve(model.cp)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    found = model.read(solver)
    return replace(
        found,
        status="optimal" if status == cp_model.OPTIMAL else "feasible",
        objective=sum(found.cycles),
        bound=sum(found.cycles) - math.ceil((solver.objective_value - solver.best_objective_bound) / CYCLE_WEIGHT),
        deterministic_time=round(used + solver.response_proto.deterministic_time, 6),
        seconds=seconds + solver.wall_time,
    )


def _solver(deterministic_time: float) -> cp_model.CpSolver:
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = _SEED
    solver.parameters.max_deterministic_time = deterministic_time
    solver.parameters.relative_gap_limit = _GAP
    # The relaxation is nearly exact: most of the work is linear.
    solver.parameters.linearization_level = 2
    solver.parameters.repair_hint = True
    return solver
