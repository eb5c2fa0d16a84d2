"""A move: decisions that may be better than those of a plan."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tvm_pulp.planning.search.problem import Problem
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.planning.tiling.schedule import Decisions

# Decisions with what is different about them.
Proposals = Iterator[tuple[str, Decisions]]


@dataclass(frozen=True)
class SearchMove:
    """An entry of the table. `propose` is told a plan, the values to try, and which of `times` turns this is.

    Every turn starts from the best plan so far. Plans of more than `most_steps` are left alone.
    """

    name: str
    propose: Callable[[Problem, Plan, Any, int], Proposals]
    values: tuple[Any, ...]
    times: int = 1
    most_steps: int | None = None

    def proposals(self, problem: Problem, plan: Plan, turn: int) -> Proposals:
        """Decisions of one turn."""
        if self.most_steps is None or len(plan.schedule.slots) <= self.most_steps:
            yield from self.propose(problem, plan, self.values, turn)
