"""Plans of the constraint solver: candidates of every layer, one problem for all of them, several rounds."""

from tvm_pulp.planning.search.solver.ask_solver import SolverAttempts, SolverRounds

__all__ = ["SolverAttempts", "SolverRounds"]
