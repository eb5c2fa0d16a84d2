"""Models for the constraint solver, on the compiled half of ortools alone.

`ortools.sat.python.cp_model` imports pandas, which nothing here needs and which takes as long as planning a small
network. Expressions are ortools' own; a model holds the few kinds of constraints that planning asks for.
"""

import os
import sys
from collections.abc import Iterable
from typing import Any

# A process may hold TensorFlow already, whose library has other versions of the functions that the solver brings and
# would be asked first: the solver stops with a segmentation fault then. With this flag it finds its own; sanitizers
# refuse it.
_flags = sys.getdlopenflags()
sys.setdlopenflags(_flags | (getattr(os, "RTLD_DEEPBIND", 0) if "tensorflow" in sys.modules else 0))
try:
    from ortools.sat.python import cp_model_helper as cp
    from ortools.util.python.sorted_interval_list import Domain
finally:
    sys.setdlopenflags(_flags)


class ConstraintModel:
    """Variables, constraints, an objective and hints."""

    def __init__(self) -> None:
        # Its stub leaves out half of its methods.
        self._base: Any = cp.CpBaseModel(None)
        self._proto = self._base.model_proto

    def integer(self, least: int, most: int, name: str) -> Any:
        return cp.IntVar(self._proto).with_name(name).with_domain(Domain(least, most))

    def boolean(self, name: str) -> Any:
        return self.integer(0, 1, name)

    def add(self, relation: Any) -> Any:
        """A relation between linear expressions holds."""
        return self._base._add_bounded_linear_expression(relation)

    def add_exactly_one(self, literals: Iterable[Any]) -> None:
        self._base._add_bool_argument_constraint(cp.BoolArgumentConstraint.exactly_one, list(literals))

    def add_implication(self, condition: Any, consequence: Any) -> None:
        self._base._add_bool_argument_constraint(cp.BoolArgumentConstraint.bool_and, consequence).only_enforce_if(
            condition
        )

    def add_largest(self, target: Any, expressions: Iterable[Any]) -> None:
        self._base._add_linear_argument_constraint(cp.LinearArgumentConstraint.max, target, list(expressions))

    def add_smallest(self, target: Any, expressions: Iterable[Any]) -> None:
        self._base._add_linear_argument_constraint(cp.LinearArgumentConstraint.min, target, list(expressions))

    def minimize(self, expression: Any) -> None:
        terms, objective = cp.FlatIntExpr(expression), self._proto.objective
        objective.vars.extend(variable.index for variable in terms.vars)
        objective.coeffs.extend(terms.coeffs)
        objective.offset, objective.scaling_factor = terms.offset, 1.0

    def hint(self, variable: Any, value: int) -> None:
        self._proto.solution_hint.vars.append(variable.index)
        self._proto.solution_hint.values.append(int(value))

    def hint_solution(self, solution: "Outcome") -> None:
        """The values of all variables of a solution of this model, instead of the hints so far."""
        self._proto.clear_solution_hint()
        for number in range(len(self._proto.variables)):
            variable = cp.IntVar(self._proto, number)
            self.hint(variable, solution.value(variable))

    def solve(self, **parameters: Any) -> "Outcome":
        """Search on one thread, so that equal models give equal solutions; Ctrl-C is not the search's."""
        chosen = cp.SatParameters()
        for name, value in {"num_workers": 1, "catch_sigint_signal": False, **parameters}.items():
            setattr(chosen, name, value)
        solver: Any = cp.SolveWrapper()
        solver.set_parameters(chosen)
        return Outcome(solver.solve(self._proto))


class Outcome:
    """The solution that a search found, and the time that it took."""

    def __init__(self, response: Any) -> None:
        self._response = response
        self.optimal = response.status == cp.OPTIMAL
        self.found = self.optimal or response.status == cp.FEASIBLE
        self.objective: float = response.objective_value
        self.bound: float = response.best_objective_bound
        self.deterministic_time: float = response.deterministic_time
        self.seconds: float = response.wall_time

    def value(self, expression: Any) -> int:
        return int(cp.ResponseHelper.value(self._response, expression))
