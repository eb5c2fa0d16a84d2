"""What transfers, compute steps and generated kernels are expected to take."""

from __future__ import annotations

from tvm_pulp.planning.tiling.cost.dma_cost import recipe_dma_cycles
from tvm_pulp.planning.tiling.cost.loop_cost import OperationCount, count_layer_operations, generated_cost
from tvm_pulp.planning.tiling.cost.step_cost import step_cost

__all__ = [
    "OperationCount",
    "count_layer_operations",
    "generated_cost",
    "recipe_dma_cycles",
    "step_cost",
]
