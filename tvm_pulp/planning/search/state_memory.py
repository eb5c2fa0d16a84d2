"""Places of caches: in L2, in L1 where that is faster, in L3 where L2 has no room for them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from tvm_pulp.errors import UserError
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.planning.tir.lower import LoweredPlan
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.soc.cost_model import CostModel

# Caches take at most this part of L1 unless the user says so: tiles need the rest.
_L1_SHARE = 2

T = TypeVar("T")


@dataclass(frozen=True)
class StateRoom:
    """Bytes of all caches, what L1 has for tiles and caches together, and whether there is an L3."""

    bytes: int
    l1_bytes: int
    l3_bytes: int


def place_state(
    plans: Sequence[Callable[[str], T]], cycles: Callable[[T], int], room: StateRoom, wanted: str | None
) -> list[T]:
    """Entry points planned at the level that was wanted, or at the one where the first takes the fewest cycles.

    All of them have to fit there; L3 is for caches that fit nowhere else.
    """
    first, *others = plans
    if wanted is not None:
        return [plan(wanted) for plan in plans]
    found: list[tuple[int, str, T]] = []
    refused: UserError | None = None
    for level in ("l2", *(("l1",) if _L1_SHARE * room.bytes <= room.l1_bytes else ())):
        try:
            made = first(level)
            found.append((cycles(made), level, made))
        except UserError as error:
            refused = refused or error
    # Of two that take the same, L2, which came first.
    for _, level, made in sorted(found, key=lambda entry: entry[0]):
        try:
            return [made, *(plan(level) for plan in others)]
        except UserError as error:
            refused = refused or error
    assert refused is not None
    if not room.l3_bytes:
        raise refused
    return [plan("l3") for plan in plans]


def cycles_with_state(lowered: LoweredPlan, soc: Any, cores: int) -> int:
    """Expected cycles of a program and of what appends its new rows; in L2 the program itself has put them there."""
    network, costs = lowered.plan.network, CostModel(soc, cores)
    total = 0
    for state in network.states:
        size = network.outputs[state.present].spec.bytes
        if state.level == "l1":
            total += costs.executor.command + costs.move_cycles(size, size, outward=False)
        elif state.level == "l3":
            total += costs.from_l3_cycles(size)
    if total:
        total += costs.executor.begin + costs.start_cycles(outward=False) + costs.wake_cycles + costs.barrier_cycles
    return lowered.plan.estimated_cycles + total


def check_in_place(plan: Plan) -> None:
    """Raise where a layer needs a copy of a cache that lies in L1: no DMA makes one."""
    for move in plan.schedule.moves:
        if isinstance(move.source, Tensor) and move.source.storage.level == "l1":
            layer = plan.layers[move.layer].layer
            raise UserError(
                f"--state-memory l1: layer '{layer.name}' ({layer.operator}) cannot read cache "
                f"'{move.source.storage.name}' where it lies: choose l2 or l3"
            )
