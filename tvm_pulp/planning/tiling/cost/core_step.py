"""A step of the cores around an accelerator's job: the hand-written kernel for it, or generated C, with its cost."""

from dataclasses import replace

from tvm_pulp.planning.tiling.cost.loop_cost import generated_cost
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.uma.recipe import Call, Kernel
from tvm_pulp.uma.registry import step_call


def core_step(kernel: Kernel, costs: CostModel) -> Kernel | Call:
    """The step as the cores take it over."""
    found = step_call(kernel, costs)
    return replace(found, cost=generated_cost(found, costs)) if isinstance(found, Kernel) else found
