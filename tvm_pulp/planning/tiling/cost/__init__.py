"""Expected cycles of transfers, compute steps and generated kernels, and the clock on which they meet."""

from tvm_pulp.planning.tiling.cost.dma_cost import recipe_dma_cycles
from tvm_pulp.planning.tiling.cost.loop_cost import OperationCount, count_layer_operations, generated_cost
from tvm_pulp.planning.tiling.cost.step_clock import StepClock
from tvm_pulp.planning.tiling.cost.step_cost import step_cost

__all__ = [
    "OperationCount",
    "StepClock",
    "count_layer_operations",
    "generated_cost",
    "recipe_dma_cycles",
    "step_cost",
]
