"""Order of layers: accelerators get their jobs early, cores work on other layers meanwhile, like follows like.

A list schedule on paper. Layers whose operands are ready compete: jobs go first, since submitting one hardly takes
time; then layers that run the same code as the one before, which finds it in the instruction cache; then those with
the longest way to the end of the network. Chains keep their order. A job that would wait for others in the
accelerator's queue may go to the cores if they end it earlier.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tvm_pulp.planning.search.stated_order import dependencies
from tvm_pulp.planning.tiling.cost.step_clock import StepClock
from tvm_pulp.qnn.network import Network
from tvm_pulp.soc.cost_model import CostModel


@dataclass(frozen=True)
class EngineDemand:
    """The work of a layer for its engine. `code`: names of what the cores run.

    `on_cores`: the work that an accelerator's layer would be for the cores, if they may. `queue`: jobs that the
    accelerator holds, the one it works on included. `words`: those that tell it what to do.
    """

    accelerator: str | None
    cycles: int
    code: tuple[str, ...] = ()
    on_cores: "EngineDemand | None" = None
    queue: int = 1
    words: int = 0


@dataclass(frozen=True)
class Order:
    """Layer indices in the order in which they should run, and those that the cores take from an accelerator."""

    layers: tuple[int, ...]
    on_cores: frozenset[int]


def layer_order(
    network: Network, demands: Sequence[EngineDemand], costs: CostModel, stated: Sequence[str] = ()
) -> Order:
    """The order for layers with these demands. `stated`: names of layers in the order in which a user has them run."""
    demands = list(demands)
    moved: set[int] = set()
    needed = dependencies(network.layers, stated)
    remaining = _remaining_cycles(needed, demands)
    order: list[int] = []
    clock = StepClock()  # the result of a layer is called after its place
    last: tuple[str, ...] | None = None
    waiting = list(range(len(demands)))
    while waiting:
        runnable = [i for i in waiting if _is_ready(i, needed, demands, clock)]
        for i in runnable:
            demand = demands[i]
            if demand.accelerator and demand.on_cores and clock.ready(needed[i]) <= clock.now:
                free = clock.free_at(demand.accelerator)
                if free > clock.now and clock.now + demand.on_cores.cycles < free + demand.cycles:
                    demands[i] = demand.on_cores
                    moved.add(i)
                    break
        jobs = [i for i in runnable if _has_room(demands[i], clock)]
        kernels = [i for i in runnable if demands[i].accelerator is None]
        if jobs:
            chosen = max(jobs, key=lambda i: (remaining[i], -i))
        elif kernels:
            chosen = max(kernels, key=lambda i: (demands[i].code == last, remaining[i], -i))
        else:
            # Everybody waits for an accelerator.
            clock.wait(clock.next_end())
            continue
        demand = demands[chosen]
        if demand.accelerator:
            clock.run(costs.submit_cycles(demand.words))
            clock.submit(demand.accelerator, demand.cycles, (chosen,))
        else:
            clock.run(demand.cycles, (chosen,))
            last = demand.code
        order.append(chosen)
        waiting.remove(chosen)
    return Order(tuple(order), frozenset(moved))


def depth_order(network: Network, stated: Sequence[str] = ()) -> Order:
    """Layers by how many there are before them: all branches of a fork begin before any of them goes on.

    A short branch is then over when the long one comes to their join, whose tiles can follow those of the long one; and
    what the branches read need not stay until the short one begins.
    """
    needed, depths = dependencies(network.layers, stated), list[int]()
    for before in needed:
        depths.append(1 + max((depths[i] for i in before), default=0))
    return Order(tuple(sorted(range(len(depths)), key=lambda i: depths[i])), frozenset())


def _remaining_cycles(needed: Sequence[set[int]], demands: Sequence[EngineDemand]) -> list[int]:
    """Cycles of the longest chain from each layer to the end."""
    longest = [w.cycles for w in demands]
    for index in reversed(range(len(demands))):
        for before in needed[index]:
            longest[before] = max(longest[before], demands[before].cycles + longest[index])
    return longest


def _is_ready(index: int, needed: Sequence[set[int]], demands: Sequence[EngineDemand], clock: StepClock) -> bool:
    """Operands are there, or come from the same accelerator, which works in order."""
    mine = demands[index].accelerator
    return all(
        d in clock.made and (clock.made[d] <= clock.now or (mine is not None and demands[d].accelerator == mine))
        for d in needed[index]
    )


def _has_room(demand: EngineDemand, clock: StepClock) -> bool:
    return demand.accelerator is not None and clock.room_at(demand.accelerator, demand.queue) <= clock.now
