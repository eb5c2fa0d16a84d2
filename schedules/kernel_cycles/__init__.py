"""Cycles of one call of a cluster kernel: what its code does, times coefficients fitted to the simulator.

Every function takes the sizes of one call (one tile) and the number of cores, and returns cluster cycles of the
slowest core with data in L1 and warm instruction caches; a barrier is not included. `coefficients.py` states for each
model how far it was off on shapes that the fit did not see.
"""

from __future__ import annotations

from schedules.kernel_cycles.attention import attention_cycles, rope_cycles
from schedules.kernel_cycles.elementwise import elementwise_cycles
from schedules.kernel_cycles.matrix import conv2d_cycles, dense_cycles, depthwise_cycles, matmul_cycles
from schedules.kernel_cycles.movement import copy_rows_cycles, pool_cycles, transpose_cycles
from schedules.kernel_cycles.rows import row_cycles

__all__ = [
    "attention_cycles",
    "conv2d_cycles",
    "copy_rows_cycles",
    "dense_cycles",
    "depthwise_cycles",
    "elementwise_cycles",
    "matmul_cycles",
    "pool_cycles",
    "rope_cycles",
    "row_cycles",
    "transpose_cycles",
]
