"""What transfers, compute steps and generated kernels are expected to take."""

from __future__ import annotations

from tvm_pulp.tiling.cost.dma_cost import move_cycles, recipe_dma_cycles, transfer_cycles
from tvm_pulp.tiling.cost.loop_cost import OperationCount, count_layer_operations, generated_cost
from tvm_pulp.tiling.cost.step_cost import step_cost

__all__ = [
    "OperationCount",
    "count_layer_operations",
    "generated_cost",
    "move_cycles",
    "recipe_dma_cycles",
    "step_cost",
    "transfer_cycles",
]
