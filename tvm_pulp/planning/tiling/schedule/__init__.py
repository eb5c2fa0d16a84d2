"""Decisions about a network, and the program that passes make of them."""

from tvm_pulp.planning.tiling.schedule.build_program import build_program
from tvm_pulp.planning.tiling.schedule.bundle import PAGE_SHARE
from tvm_pulp.planning.tiling.schedule.choice import Choice
from tvm_pulp.planning.tiling.schedule.decisions import Decisions, Policy, policy_of
from tvm_pulp.planning.tiling.schedule.interleave_steps import can_interleave
from tvm_pulp.planning.tiling.schedule.prefetch_leads import leads_of_order, prefetch_leads
from tvm_pulp.planning.tiling.schedule.program import Program
from tvm_pulp.planning.tiling.schedule.split_transfers import CommandLimits

__all__ = [
    "PAGE_SHARE",
    "Choice",
    "CommandLimits",
    "Decisions",
    "Policy",
    "Program",
    "build_program",
    "can_interleave",
    "leads_of_order",
    "policy_of",
    "prefetch_leads",
]
