"""The driver of planning: has decisions tiled, lowered and estimated, keeps the fastest plan, and has it verified."""

from __future__ import annotations

from tvm_pulp.planning.attempts.watch_plans import watch_plans
from tvm_pulp.planning.driver import PlanRequest, plan_network
from tvm_pulp.planning.partition_network import partition_network

__all__ = [
    "PlanRequest",
    "partition_network",
    "plan_network",
    "watch_plans",
]
