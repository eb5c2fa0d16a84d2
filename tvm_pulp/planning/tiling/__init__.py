"""One plan from one set of decisions: layers cut into tiles, scheduled, and placed in memory.

| folder | what it holds |
|---|---|
| `cost` | cycles of transfers, steps and generated kernels |
| `forms` | the ways to run a layer, their cuts, and the cheapest of them |
| `schedule` | decisions, and the order of steps and transfers that follows from them |
| `place` | addresses in L1 and L2; what gives way where there is no room |
"""

from tvm_pulp.planning.tiling.plan import LayerPlan, Plan, plan_l2, with_estimate

__all__ = ["LayerPlan", "Plan", "plan_l2", "with_estimate"]
