"""Expected cycles of transfers, compute steps and generated kernels, and the clock on which they meet."""

from tvm_pulp.planning.tiling.cost.dma_cost import dma_cycles
from tvm_pulp.planning.tiling.cost.step_clock import StepClock

__all__ = ["StepClock", "dma_cycles"]
