"""Addresses: buffers of L2 in an arena, blocks of L1 over time, and what gives way where they do not fit."""

from tvm_pulp.planning.tiling.place.arena import Arena, plan_arena
from tvm_pulp.planning.tiling.place.fit_schedule import FittedSchedule, excess_bytes, fit_schedule
from tvm_pulp.planning.tiling.place.place_blocks import place_blocks
from tvm_pulp.planning.tiling.place.placer import Buffer, Placer, largest_live_set

__all__ = [
    "Arena",
    "Buffer",
    "FittedSchedule",
    "Placer",
    "excess_bytes",
    "fit_schedule",
    "largest_live_set",
    "place_blocks",
    "plan_arena",
]
