"""The driver of planning: has decisions tiled, lowered and estimated, keeps the fastest plan, and has it verified."""

from tvm_pulp.planning.search.driver import PlanFrame, PlanRequest, plan_network
from tvm_pulp.planning.search.evaluate import watch_plans
from tvm_pulp.planning.search.fits_l1 import fits_l1
from tvm_pulp.planning.search.moves import Tried, watch_moves
from tvm_pulp.planning.search.partition_network import partition_network
from tvm_pulp.planning.search.state_memory import StateRoom, cycles_with_state, place_state

__all__ = [
    "PlanFrame",
    "PlanRequest",
    "StateRoom",
    "Tried",
    "cycles_with_state",
    "fits_l1",
    "partition_network",
    "place_state",
    "plan_network",
    "watch_moves",
    "watch_plans",
]
