"""The model as it is, and what it would take if something were different."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tvm_pulp.canonicalize.pipeline import canonicalize
from tvm_pulp.frontend.imported import Imported
from tvm_pulp.planning.lowering import build_network
from tvm_pulp.planning.tiling.plan import LayerPlan, Plan
from tvm_pulp.target import resolve_target


@dataclass(frozen=True)
class Base:
    """What was planned: `options` are those of a compilation, `model` a file or a model in memory."""

    model: Any
    options: Any
    imported: Imported
    plan: Plan

    def cycles_of(self, concerns: Callable[[LayerPlan], bool]) -> int:
        """What layers take in the plan: no change of them alone saves more."""
        return sum(layer.added_cycles for layer in self.plan.layers if concerns(layer))


@dataclass(frozen=True)
class Change:
    """Something that could be different."""

    name: str
    # What to do, in words that a user can follow.
    advice: str
    # The most that it can save.
    bound_cycles: int
    # What the changed network is expected to take.
    planned_cycles: Callable[[Any], int]


def planned_cycles(options: Any, imported: Imported, change: Callable[[Any], Any] = lambda module: module) -> int:
    """Cycles of a plan with other options, another import, or a changed canonical module."""
    target = resolve_target(options)
    module = target.prepare(change(canonicalize(imported)))
    return int(target.plan(build_network(module, imported, options.module_name)).plan.estimated_cycles)
