"""The plan verifier: reads only the described plan and the SoC, and knows nothing of how the plan was made.

It executes the program on paper: which content every byte of L1 and L2 holds, which transfers, jobs and kernels may
still be under way, what each core knows. It returns a list of sentences, one per fault; an empty list is a clean plan.
"""

from typing import Any

from tvm_pulp.planning.check.contents import Contents
from tvm_pulp.planning.check.places import Inside, check_capacity, check_cover, check_executed, check_places
from tvm_pulp.planning.check.races import Races
from tvm_pulp.planning.program.actions import Begin, Step
from tvm_pulp.planning.program.plan_record import PlanJson

_MOST_FAULTS = 50


def verify_plan(plan: PlanJson, soc: Any, beyond_l2: int = 0) -> list[str]:
    """All faults of a plan, of whose constants in L2 so many bytes move elsewhere afterwards."""
    faults = check_places("L2 tensor", plan.l2.tensors, plan.l2.size, "lies outside the arena")
    faults += check_capacity(plan, soc, beyond_l2)
    faults += check_places("L1 block", plan.blocks, plan.l1_bytes, f"lies beyond the budget {plan.l1_bytes}")
    faults += [fault for layer in plan.layers for fault in check_cover(layer)]
    faults += check_executed(plan)
    contents, races, inside = Contents(plan), Races(soc.dma.counters), Inside(plan)
    for number, step in enumerate(plan.program):
        where = _where(plan, number, step)
        faults += races.synchronise(where, step)
        faults += contents.step(where, step)
        faults += inside.step(where, step)
        faults += races.step(where, step)
        if len(faults) > _MOST_FAULTS:
            return faults
    return faults + races.end() + contents.end()


def _where(plan: PlanJson, number: int, step: Step) -> str:
    layers = sorted({plan.layers[a.layer].name for a in step.actions if not isinstance(a, Begin)})
    return f"step {number} ({', '.join(layers) or 'no layer'})"
