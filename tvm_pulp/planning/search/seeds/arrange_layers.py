"""Order and engines of layers for the whole network: what one engine cannot hide, another may do meanwhile."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice

from tvm_pulp.errors import UserError
from tvm_pulp.planning.search.evaluate import evaluate
from tvm_pulp.planning.search.moves.tile_pipelines import pipelined
from tvm_pulp.planning.search.problem import Problem
from tvm_pulp.planning.search.seeds.order_layers import EngineDemand, Order, depth_order, layer_order
from tvm_pulp.planning.search.seeds.rules import (
    BESIDE_JOBS,
    JUST_IN_TIME,
    rule_decisions,
    whole_l1,
    without_overlap,
)
from tvm_pulp.planning.tiling.forms import CLUSTER, LayerForms, SplitForm, Tiling, pin_of
from tvm_pulp.planning.tiling.schedule import Decisions, can_interleave
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.uma.recipe import Job

# By how much a split has to make the network faster: all figures are estimates.
_LEAST_GAIN = 0.003
# The same where weights have to come long before: they take room and time of the DMA from others.
_LEAST_EARLY_GAIN = 0.02
# Cycles of steps in pipelines by which orders are compared, how many of these cuts, and where: the other order takes at
# most so many times the cycles without.
_STEP_CYCLES, _PIPELINES, _NEAR = (4000, 2500, 1500, 1000), 2, 1.05
# Kinds of layers that are tried, and layers of a kind of which half are tried as well.
_MOST_KINDS, _MANY = 8, 16


def arrange_layers(problem: Problem, start: Decisions) -> Decisions:
    """The order and the engines with the fewest expected cycles.

    As given, reordered, or with layers moved to the cores too; by depth, if pipelines of tiles gain from it; then with
    layers on two engines at once.
    """
    if not problem.overlap:
        return start
    candidates = [start]
    candidates += [_apply(start, order) for order in _orders(problem, start)]
    groups = _splittable(start)
    if _finishes_jobs(problem, start):
        candidates += [replace(candidate, interleave=True) for candidate in candidates]
    by_depth = _apply(start, depth_order(problem.network_of(start), problem.stated.order))
    if len(candidates) == 1 and not groups and by_depth.layers == start.layers:
        return start
    judged = [(expected_cycles(problem, changed), position) for position, changed in enumerate(candidates)]
    known = [(cycles, position) for cycles, position in judged if cycles is not None]
    if not known:
        return start
    cycles, position = min(known)
    best, by_depth = candidates[position], replace(by_depth, interleave=candidates[position].interleave)
    plain = None if by_depth.layers == best.layers else expected_cycles(problem, by_depth)
    if plain is not None and plain < _NEAR * cycles and _gains_as_pipelines(problem, by_depth, plain, best):
        best, cycles = by_depth, plain
    divided, cycles = _with_splits(problem, best, groups, cycles)
    if divided is best or pipelined_cycles(problem, best) >= cycles:
        return divided
    # Pipelines may have no use for divided layers.
    return divided if pipelined_cycles(problem, divided) <= pipelined_cycles(problem, best) else best


def _gains_as_pipelines(problem: Problem, some: Decisions, plain: int, other: Decisions) -> bool:
    """Tell if pipelines of one order, which takes `plain` cycles without, are faster than the other order, also with
    constants that come beside its jobs.

    Constants that come just in time hide what an order gains where transfers are many.
    """
    cycles = pipelined_cycles(problem, some, plain)
    if math.isinf(cycles) or cycles >= pipelined_cycles(problem, other):
        return False
    early = _cycles_within(problem, other, BESIDE_JOBS)
    return early is None or cycles < early or (_cycles_within(problem, some, BESIDE_JOBS) or math.inf) < early


def pipelined_cycles(problem: Problem, start: Decisions, plain: float = math.inf) -> float:
    """Expected cycles as pipelines of tiles; infinitely many where a layer does not fit.

    So it is where L1 is so small that layers give up overlap and the first pipelines take far longer than the `plain`
    cycles that there are without: finer ones take longer still.
    """
    least = math.inf
    with suppress(UserError):
        decisions = rule_decisions(problem, start, JUST_IN_TIME, whole_l1(problem, start))
        for _, wanted in islice(pipelined(decisions, _STEP_CYCLES), _PIPELINES):
            plan = evaluate(problem, wanted)
            if plan.gives_up_overlap and plan.estimated_cycles > _NEAR * plain:
                return math.inf
            least = min(least, plan.estimated_cycles)
        return least
    return math.inf


def _finishes_jobs(problem: Problem, start: Decisions) -> bool:
    """Tell if the cores finish what jobs begin: only then do steps of neighbouring layers between each other help."""
    return can_interleave(rule_decisions(problem, start, JUST_IN_TIME, whole_l1(problem, start)).choices)


def expected_cycles(problem: Problem, start: Decisions) -> int | None:
    """Expected cycles; None where a layer does not fit: it is named when the network is planned as it is."""
    try:
        plan = evaluate(problem, rule_decisions(problem, start, JUST_IN_TIME, whole_l1(problem, start)))
        if not plan.gives_up_overlap:
            return plan.estimated_cycles
        # Room for what overlaps may cost more than it wins in all layers.
        return min(plan.estimated_cycles, without_overlap(problem, start).cycles)
    except UserError:
        return None


def _cycles_within(problem: Problem, start: Decisions, lead: int) -> int | None:
    """Expected cycles with constants fetched so long before; None where L1 or L2 has no room for that."""
    with suppress(UserError):
        plan = evaluate(problem, rule_decisions(problem, start, lead, whole_l1(problem, start)))
        return plan.estimated_cycles if plan.l2_needed <= problem.l2_bytes else None
    return None


def _splittable(start: Decisions) -> list[dict[str, str]]:
    """Engines of layers of one kind that could run on two of them, kinds with most layers first.

    A kind has one shape, and its results go to the same operators: what waits for it is alike as well.
    """
    kinds: dict[object, dict[str, str]] = {}
    readers: dict[Tensor, set[str]] = {}
    for entry in start.layers:
        for tensor in entry.layer.inputs:
            readers.setdefault(tensor.storage, set()).add(entry.layer.operator)
    for entry in start.layers:
        layer = entry.layer
        split = next((f for f in entry.tiled if isinstance(f, SplitForm)), None)
        if split is not None and layer.name not in start.engines:
            shapes = tuple(t.spec.shape for t in (*layer.inputs[:2], *layer.outputs))
            kind = (layer.operator, shapes, *(frozenset(readers.get(t.storage, ())) for t in layer.outputs))
            kinds.setdefault(kind, {})[layer.name] = pin_of(split)
    return sorted(kinds.values(), key=lambda engines: -len(engines))[:_MOST_KINDS]


def _with_splits(
    problem: Problem, start: Decisions, groups: Sequence[Mapping[str, str]], cycles: int
) -> tuple[Decisions, int]:
    """Kinds of layers on two engines, one kind after the other, as long as that helps, and the expected cycles.

    Weights of the cores' parts are many: they may have to come beside jobs that are long before them. Those that do not
    help by themselves may do so beside one that does, where they are near: once more around. Then every other layer of
    a kind that repeated blocks have twice: transfers may have no time for both. That is tried with steps interleaved
    where this takes no longer: the other layer's job is submitted before the cores begin with their part of this one.
    """
    best = start
    early = _cycles_within(problem, start, BESIDE_JOBS) if groups else None

    def tried(engines: Mapping[str, str], *, may_be_early: bool = True) -> float:
        """Cycles with these engines too, taken where they are fewer, as parts of those before."""
        nonlocal best, cycles
        changed, before = replace(best, engines={**engines, **best.engines}), cycles
        found = _cycles_within(problem, changed, JUST_IN_TIME)
        if found is not None and found < (1 - _LEAST_GAIN) * cycles:
            best, cycles = changed, found
            return found / before
        sooner = _cycles_within(problem, changed, BESIDE_JOBS) if early is not None and may_be_early else None
        if early is not None and sooner is not None and sooner < (1 - _LEAST_EARLY_GAIN) * min(early, cycles):
            best, cycles = changed, sooner
        return math.inf if found is None else found / before

    left = list(groups)
    for _ in range(2):
        parts = [(engines, tried(engines, may_be_early=best is start)) for engines in left]
        if best is start:
            break
        left = [engines for engines, part in parts if part < _NEAR and not engines.keys() & best.engines.keys()]
    halves = [engines for engines in left if len(engines) >= _MANY] if best is not start else []
    if halves:
        mixed = replace(best, interleave=True)
        if (_cycles_within(problem, mixed, JUST_IN_TIME) or math.inf) <= cycles:
            best = mixed
    for engines in halves:
        for first in (0, 1):
            # Both halves are the kind as it was tried.
            if not engines.keys() & best.engines.keys():
                tried(dict(list(engines.items())[first::2]), may_be_early=False)
    return best, cycles


def _orders(problem: Problem, start: Decisions) -> Iterator[Order]:
    """Orders that differ from the given one."""
    network, how = problem.network_of(start), (problem.costs, problem.stated.order)
    with suppress(UserError):
        demands = [_demand(entry, start.engine(i), problem.l1_bytes) for i, entry in enumerate(start.layers)]
        plain = [replace(demand, on_cores=None) for demand in demands]
        given = Order(tuple(range(len(demands))), frozenset())
        found = (layer_order(network, plain, *how), layer_order(network, demands, *how))
        yield from (order for order in dict.fromkeys(found) if order != given)


def _apply(start: Decisions, order: Order) -> Decisions:
    moved = {start.layers[i].layer.name: CLUSTER for i in order.on_cores}
    return replace(start, layers=tuple(start.layers[i] for i in order.layers), engines={**moved, **start.engines})


def _demand(entry: LayerForms, engine: str, l1_bytes: int) -> EngineDemand:
    """The work of a layer for its engine when it runs by itself."""
    tiling = entry.tiling(l1_bytes, engine)
    if tiling.form.engine == CLUSTER:
        return _core_demand(tiling)
    cut = [cuts.within(l1_bytes) for cuts in entry.cuts if cuts.form.engine == CLUSTER and not engine]
    fitting = [t for t in cut if isinstance(t, Tiling)]
    on_cores = _core_demand(min(fitting, key=lambda t: t.cycles)) if fitting else None
    jobs = [step for step in tiling.recipes[0].steps if isinstance(step, Job)]
    queue, words = max((j.queue for j in jobs), default=1), max((j.words for j in jobs), default=0)
    return EngineDemand(tiling.form.engine, tiling.cycles, (), on_cores, queue, words)


def _core_demand(tiling: Tiling) -> EngineDemand:
    return EngineDemand(None, tiling.cycles, tiling.recipe(tiling.tiles[0]).code)
