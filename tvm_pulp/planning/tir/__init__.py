"""From a plan to one synchronised TIR function, and the description of both as plain data."""

from tvm_pulp.planning.tir.describe import describe
from tvm_pulp.planning.tir.lower import LoweredPlan, PassResult, lower
from tvm_pulp.planning.tir.tables import Tables

__all__ = [
    "LoweredPlan",
    "PassResult",
    "Tables",
    "describe",
    "lower",
]
