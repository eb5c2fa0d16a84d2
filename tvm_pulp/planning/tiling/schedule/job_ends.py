"""How long jobs of accelerators run beside the steps that follow: as long as nobody needs what they make.

A list of steps on paper: cores and engines start a step when its operands are there, engines work in order.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from tvm_pulp.planning.tiling.cost.step_cost import step_cost
from tvm_pulp.uma.recipe import Job, Load, Local, Recipe, Store, operands_of


def last_slots(steps: Sequence[tuple[int, int, Any]], recipes: Sequence[Sequence[Recipe]]) -> dict[int, int]:
    """For every slot with a job the last slot that is expected to begin before the job is over."""
    starts, ends = expected_times(steps, recipes)
    return {slot: bisect_left(starts, end, lo=slot + 1) - 1 for slot, end in ends.items()}


def expected_times(
    steps: Sequence[tuple[int, int, Any]], recipes: Sequence[Sequence[Recipe]], step_cycles: int = 0
) -> tuple[list[int], dict[int, int]]:
    """When every step begins, and when every job is over, both by slot.

    `steps`: layer, tile and step by slot; `recipes`: those of every layer's tiles; `step_cycles`: of a step beside what
    it does.
    """
    starts: list[int] = []
    ends: dict[int, int] = {}
    over: dict[str, list[int]] = {}  # when the jobs of each engine end
    made: dict[Any, int] = {}
    now = 0
    for slot, (layer, tile, step) in enumerate(steps):
        aliases = _tensors(recipes[layer][tile])
        ready = max((made.get(name, 0) for o in operands_of(step) for name in (o, aliases.get(o))), default=0)
        now += step_cycles
        if isinstance(step, Job):
            # Jobs wait for jobs in their engine's queue, and whoever submits one for a place in it.
            earlier = over.setdefault(step.engine, [])
            if len(earlier) >= step.queue:
                now = max(now, earlier[-step.queue])
            starts.append(now)
            ends[slot] = end = max(now, ready, *earlier[-1:]) + step.cycles
            earlier.append(end)
            written: Sequence[Any] = step.writes
        else:
            now = max(now, ready)
            starts.append(now)
            now = end = now + step_cost(step).cycles
            written = operands_of(step)
        for local in written:
            made[local] = end
            if local in aliases:
                made[aliases[local]] = end
    return starts, ends


def _tensors(recipe: Recipe) -> dict[Local | Any, Any]:
    """The tensors that the buffers of a tile hold parts of, as far as they are no constants."""
    moves = [step for step in recipe.steps if isinstance(step, Load | Store)]
    return {m.local: m.tensor.storage for m in moves if m.tensor.storage.kind != "constant"}
