"""Independent check of a described plan: reads it and the SoC, knows nothing of how it was made."""

from tvm_pulp.planning.check.verify_cpu_plan import verify_cpu_plan
from tvm_pulp.planning.check.verify_plan import verify_plan

__all__ = [
    "verify_cpu_plan",
    "verify_plan",
]
