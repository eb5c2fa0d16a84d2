"""How the expected cycles of a recipe divide among its compute steps."""

from __future__ import annotations

from tvm_pulp.uma.recipe import Call, Job, Kernel, Recipe


def _weight(step: Kernel | Call) -> int:
    written = step.outputs if isinstance(step, Kernel) else step.writes[:1]
    return max(1, sum(o.spec.elements for o in written))


def step_cycles(recipe: Recipe) -> dict[int, int]:
    """Cycles by the identity of each compute step: jobs get the engine's, kernels share the rest by what they write."""
    steps = [s for s in recipe.steps if isinstance(s, Kernel | Call | Job)]
    jobs = [s for s in steps if isinstance(s, Job)]
    kernels = [s for s in steps if not isinstance(s, Job)]
    found: dict[int, int] = {id(j): recipe.engine_cycles // len(jobs) for j in jobs}
    rest = max(0, recipe.cycles - recipe.engine_cycles)
    total = sum(_weight(k) for k in kernels)
    for kernel in kernels:
        found[id(kernel)] = rest * _weight(kernel) // total
    return found
