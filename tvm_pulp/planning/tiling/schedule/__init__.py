"""Decisions about a network, and the order of compute steps and transfers that follows from them."""

from tvm_pulp.planning.tiling.schedule.build_schedule import PAGE_SHARE, build_schedule
from tvm_pulp.planning.tiling.schedule.choice import Choice
from tvm_pulp.planning.tiling.schedule.constant_bundles import AGENTS
from tvm_pulp.planning.tiling.schedule.decisions import NOTHING_IN_L3, Decisions, InL3, Policy, policy_of
from tvm_pulp.planning.tiling.schedule.interleave_steps import can_interleave
from tvm_pulp.planning.tiling.schedule.prefetch_leads import leads_of_order, prefetch_leads
from tvm_pulp.planning.tiling.schedule.schedule import Schedule, compute_position, load_position, store_position
from tvm_pulp.planning.tiling.schedule.split_transfers import CommandLimits

__all__ = [
    "AGENTS",
    "NOTHING_IN_L3",
    "PAGE_SHARE",
    "Choice",
    "CommandLimits",
    "Decisions",
    "InL3",
    "Policy",
    "Schedule",
    "build_schedule",
    "can_interleave",
    "compute_position",
    "leads_of_order",
    "load_position",
    "policy_of",
    "prefetch_leads",
    "store_position",
]
