"""How long jobs of accelerators run beside the steps that follow: as long as nobody needs what they make.

Steps one after the other on the clock: cores and engines start one when its operands are there.
"""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from tvm_pulp.planning.tiling.cost.step_clock import StepClock
from tvm_pulp.uma.recipe import Job, Kernel, Recipe, operands_of


def last_slots(steps: Sequence[tuple[int, int, Any]], recipes: Sequence[Sequence[Recipe]]) -> dict[int, int]:
    """For every slot with a job the last slot that is expected to begin before the job is over."""
    starts, ends = expected_times(steps, recipes)
    return {slot: bisect_left(starts, end, lo=slot + 1) - 1 for slot, end in ends.items()}


def expected_times(
    steps: Sequence[tuple[int, int, Any]],
    recipes: Sequence[Sequence[Recipe]],
    step_cycles: int = 0,
    *,
    beside_jobs: bool = True,
) -> tuple[list[int], dict[int, int]]:
    """When every step begins, and when every job is over, both by slot.

    `steps`: layer, tile and step by slot; `recipes`: those of every layer's tiles; `step_cycles`: of a step beside what
    it does; `beside_jobs`: the cores go on while jobs run.
    """
    starts: list[int] = []
    ends: dict[int, int] = {}
    clock = StepClock()
    for slot, (layer, tile, step) in enumerate(steps):
        aliases, operands = recipes[layer][tile].activations, operands_of(step)
        job = isinstance(step, Job) and beside_jobs
        # Cores beside a job write another part of the same result.
        mine = recipes[layer][tile].together and not job
        ready = clock.ready((*operands, *(aliases.get(o) for o in (_read(step) if mine else operands))))
        # Jobs wait for their operands in their engine's queue, and whoever submits one for a place in it.
        clock.now += step_cycles
        clock.wait(clock.room_at(step.engine, step.queue) if job else ready)
        starts.append(clock.now)
        written = step.writes if job else operands
        makes = (*written, *(aliases[o] for o in written if o in aliases))
        if job:
            ends[slot] = clock.submit(step.engine, step.cycles, makes, after=ready)
        else:
            clock.run(step.cost.cycles, makes)
    return starts, ends


def _read(step: Any) -> tuple[Any, ...]:
    """Operands that a step reads."""
    return step.inputs if isinstance(step, Kernel) else step.reads
