"""Expected cycles of a program: executed on a clock for cores, DMA, accelerators and instruction cache."""

from tvm_pulp.planning.estimate.estimate_program import BusySpan, Estimate, estimate_program

__all__ = [
    "BusySpan",
    "Estimate",
    "estimate_program",
]
