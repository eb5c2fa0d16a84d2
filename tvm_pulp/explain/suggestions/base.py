"""Something that could be different about a model."""

from collections.abc import Callable
from dataclasses import dataclass

from tvm_pulp.compilation import Compilation
from tvm_pulp.planning.tiling.plan import LayerPlan


@dataclass(frozen=True)
class Change:
    """A change, and the compilation that it makes of one without it."""

    name: str
    # What to do, in words that a user can follow.
    advice: str
    # The most that it can save.
    bound_cycles: int
    apply: Callable[[Compilation], Compilation]


def cycles_of(compilation: Compilation, concerns: Callable[[LayerPlan], bool]) -> int:
    """Cycles of layers in the plan: no change of them alone saves more."""
    return sum(layer.added_cycles for layer in compilation.plan.layers if concerns(layer))
