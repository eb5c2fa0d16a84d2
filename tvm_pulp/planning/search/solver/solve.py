"""The constraint solver: deterministic, with limits in its own time instead of seconds."""

import math
from dataclasses import replace

from tvm_pulp.planning.search.solver.problem import Solution, SolverProblem
from tvm_pulp.planning.search.solver.solver_model import CYCLE_WEIGHT, SolverModel

_SEED = 1
# The model is not more precise than this.
_GAP = 0.0005
# For what follows from decisions that are fixed: there is little to presolve (ortools 9.15 does, and aborts the process
# on some models), no relaxation that helps, and looking for symmetries takes nine tenths of the time.
_COMPLETION = {
    "fix_variables_to_their_hinted_value": True,
    "cp_model_presolve": False,
    "linearization_level": 0,
    "symmetry_level": 0,
}


def solve(problem: SolverProblem, hint: Solution | None, deterministic_time: float) -> Solution | None:
    """The best decisions found within the time; None if there are none."""
    model = SolverModel(problem)
    limits = {
        "random_seed": _SEED,
        "max_deterministic_time": deterministic_time,
        "relative_gap_limit": _GAP,
        # The relaxation is nearly exact: most of the work is linear.
        "linearization_level": 2,
        "repair_hint": True,
    }
    used = seconds = 0.0
    if hint is not None:
        model.hint(hint)
        # What follows from the hinted decisions is found first: a complete solution is a far better hint.
        completed = model.cp.solve(**{**limits, **_COMPLETION})
        if completed.found:
            model.cp.hint_solution(completed)
        used, seconds = completed.deterministic_time, completed.seconds
    outcome = model.cp.solve(**limits)
    if not outcome.found:
        return None
    found = model.read(outcome)
    return replace(
        found,
        status="optimal" if outcome.optimal else "feasible",
        objective=sum(found.cycles),
        bound=sum(found.cycles) - math.ceil((outcome.objective - outcome.bound) / CYCLE_WEIGHT),
        deterministic_time=round(used + outcome.deterministic_time, 6),
        seconds=seconds + outcome.seconds,
    )
