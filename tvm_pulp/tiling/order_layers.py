"""Order of layers: accelerators get their jobs early, cores work on other layers meanwhile, like follows like.

A list schedule on paper. Layers whose operands are ready compete: jobs go first, since submitting one hardly takes
time; then layers that run the same code as the one before, which finds it in the instruction cache; then those with
the longest way to the end of the network. Chains keep their order. A job that would wait for others in the
accelerator's queue may go to the cores if they end it earlier.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tvm_pulp.qnn.network import Network, Tensor
from tvm_pulp.soc.cost_model import CostModel

# Words of a job: few beside what the layers take, so all count alike here.
_JOB_WORDS = 25


@dataclass(frozen=True)
class Work:
    """What a layer asks of its engine. `code` tells which layers run the same code.

    `core_cycles`: what the cores would take for an accelerator's layer, if they may.
    """

    accelerator: str | None
    cycles: int
    code: str
    core_cycles: int | None = None


@dataclass(frozen=True)
class Order:
    """Layer indices in the order in which they should run, and those that the cores take from an accelerator."""

    layers: tuple[int, ...]
    on_cores: frozenset[int]


def layer_order(network: Network, works: Sequence[Work], costs: CostModel) -> Order:
    """The order for layers with these works."""
    works = list(works)
    moved: set[int] = set()
    needed = _dependencies(network)
    remaining = _remaining_cycles(needed, works)
    order: list[int] = []
    end: dict[int, int] = {}
    busy: dict[str, list[int]] = {}
    now, last = 0, ""
    waiting = list(range(len(works)))
    while waiting:
        ready = [i for i in waiting if all(d in end for d in needed[i])]
        runnable = [i for i in ready if _is_ready(i, needed, works, end, now)]
        for i in runnable:
            work = works[i]
            if work.accelerator and work.core_cycles is not None and all(end[d] <= now for d in needed[i]):
                free = max([now, *busy.get(work.accelerator, [])])
                if free > now and now + work.core_cycles < free + work.cycles:
                    works[i] = Work(None, work.core_cycles, f"{work.code} on cores")
                    moved.add(i)
                    break
        jobs = [i for i in runnable if works[i].accelerator and _has_room(busy, works[i], now, costs)]
        kernels = [i for i in runnable if works[i].accelerator is None]
        if jobs:
            chosen = max(jobs, key=lambda i: (remaining[i], -i))
        elif kernels:
            chosen = max(kernels, key=lambda i: (works[i].code == last, remaining[i], -i))
        else:
            # Everybody waits for an accelerator.
            now = min(t for times in busy.values() for t in times if t > now)
            continue
        work = works[chosen]
        if work.accelerator:
            now += costs.submit_cycles(_JOB_WORDS)
            times = busy.setdefault(work.accelerator, [])
            end[chosen] = max([now, *times]) + work.cycles
            times.append(end[chosen])
        else:
            now += work.cycles
            end[chosen] = now
            last = work.code
        order.append(chosen)
        waiting.remove(chosen)
    return Order(tuple(order), frozenset(moved))


def _dependencies(network: Network) -> list[set[int]]:
    """Layers whose results each layer reads."""
    producer: dict[Tensor, int] = {}
    needed: list[set[int]] = []
    for index, layer in enumerate(network.layers):
        needed.append({producer[t.storage] for t in layer.inputs if t.storage in producer})
        for tensor in layer.outputs:
            producer[tensor.storage] = index
    return needed


def _remaining_cycles(needed: Sequence[set[int]], works: Sequence[Work]) -> list[int]:
    """Cycles of the longest chain from each layer to the end."""
    longest = [w.cycles for w in works]
    for index in reversed(range(len(works))):
        for before in needed[index]:
            longest[before] = max(longest[before], works[before].cycles + longest[index])
    return longest


def _is_ready(index: int, needed: Sequence[set[int]], works: Sequence[Work], end: dict[int, int], now: int) -> bool:
    """Operands are there, or come from the same accelerator, which works in order."""
    mine = works[index].accelerator
    return all(end[d] <= now or (mine is not None and works[d].accelerator == mine) for d in needed[index])


def _has_room(busy: dict[str, list[int]], work: Work, now: int, costs: CostModel) -> bool:
    assert work.accelerator is not None
    return sum(t > now for t in busy.get(work.accelerator, [])) < costs.job_queue(work.accelerator)
