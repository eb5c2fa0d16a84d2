"""Addresses: buffers of L2 in an arena, blocks of L1 over time, and what gives way where they do not fit."""

from tvm_pulp.planning.tiling.place.arena import Arena, plan_arena
from tvm_pulp.planning.tiling.place.fit_schedule import FittedSchedule, excess_bytes, fit_schedule
from tvm_pulp.planning.tiling.place.placer import Buffer, largest_live_set

__all__ = ["Arena", "Buffer", "FittedSchedule", "excess_bytes", "fit_schedule", "largest_live_set", "plan_arena"]
