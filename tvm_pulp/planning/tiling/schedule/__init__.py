"""Decisions about a network, and the order of compute steps and transfers that follows from them."""

from tvm_pulp.planning.tiling.schedule.build_schedule import build_schedule
from tvm_pulp.planning.tiling.schedule.decisions import (
    NOTHING_IN_L3,
    Choice,
    Decisions,
    InL3,
    policy_of,
    tiled_layer,
)
from tvm_pulp.planning.tiling.schedule.prefetch_leads import prefetch_leads
from tvm_pulp.planning.tiling.schedule.schedule import BOOT, Block, Bundle, Fetch, Move, Piece, Place, Schedule, Slot
from tvm_pulp.planning.tiling.schedule.tiled_layer import Policy, TiledLayer

__all__ = [
    "BOOT",
    "NOTHING_IN_L3",
    "Block",
    "Bundle",
    "Choice",
    "Decisions",
    "Fetch",
    "InL3",
    "Move",
    "Piece",
    "Place",
    "Policy",
    "Schedule",
    "Slot",
    "TiledLayer",
    "build_schedule",
    "policy_of",
    "prefetch_leads",
    "tiled_layer",
]
