"""Something that could be different about a model."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tvm_pulp.compilation import Compilation
from tvm_pulp.planning.tiling.plan import LayerPlan, Plan
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.operator import spec_of
from tvm_pulp.uma.recipe import Call, Kernel


@dataclass(frozen=True)
class Change:
    """A change, and the compilation that it makes of one without it."""

    name: str
    # What to do, in words that a user can follow.
    advice: str
    # The most that it can save.
    bound_cycles: int
    apply: Callable[[Compilation], Compilation]


def most_saved(layer: LayerPlan) -> int:
    """Cycles that a layer adds, and at most what others wait for code that its own displaces in the caches."""
    costs = [step.cost for recipe in layer.recipes for step in recipe.steps if isinstance(step, Call | Kernel)]
    return layer.added_cycles + sum({cost.code: cost.cold_cycles for cost in costs}.values())


def plan_of(compilation: Compilation) -> Plan:
    """The plan for a SoC with a cluster: changes are weighed in cycles, which no CPU by itself is known to take."""
    plan = compilation.plan
    assert isinstance(plan, Plan), "suggested for clusters alone"
    return plan


def cycles_of(compilation: Compilation, concerns: Callable[[LayerPlan], bool]) -> int:
    """Cycles of layers in the plan: no change of them alone saves more."""
    return sum(most_saved(layer) for layer in plan_of(compilation).layers if concerns(layer))


def cycles_of_operators(compilation: Compilation, concerns: Callable[[Layer], bool]) -> int:
    """Cycles of layers that are, or have inside, an operator of a kind."""
    return cycles_of(compilation, lambda plan: any(concerns(part) for part in plan.layer.parts or (plan.layer,)))


def without(variable: Any, value: Any) -> Any:
    """A call's first operand in its place, where that has the same shape and type; else the call as it is."""
    source, result = spec_of(value.args[0]), spec_of(variable)
    return value.args[0] if (source.shape, source.dtype) == (result.shape, result.dtype) else value
