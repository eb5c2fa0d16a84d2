"""Expected cycles of transfers, compute steps and generated kernels, and the clock on which they meet."""

from tvm_pulp.planning.tiling.cost.dma_cost import dma_cycles
from tvm_pulp.planning.tiling.cost.loop_cost import OperationCount, count_layer_operations, generated_cost
from tvm_pulp.planning.tiling.cost.step_clock import StepClock

__all__ = ["OperationCount", "StepClock", "count_layer_operations", "dma_cycles", "generated_cost"]
