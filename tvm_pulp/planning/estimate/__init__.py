"""Expected cycles of a described plan: its program on a clock for cores, DMA, accelerators and instruction cache."""

from __future__ import annotations

from tvm_pulp.planning.estimate.estimate_plan import BusySpan, Estimate, estimate_plan

__all__ = [
    "BusySpan",
    "Estimate",
    "estimate_plan",
]
