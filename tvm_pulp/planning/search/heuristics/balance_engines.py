"""Order and engines of layers for the whole network: what one engine cannot hide, another may do meanwhile."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice

from tvm_pulp.errors import UserError
from tvm_pulp.planning.search.attempts import PlanEvaluator
from tvm_pulp.planning.search.heuristics.order_layers import EngineDemand, Order, depth_order, layer_order
from tvm_pulp.planning.search.heuristics.policies import (
    BESIDE_JOBS,
    JUST_IN_TIME,
    policy_decisions,
    whole_l1,
    without_overlap,
)
from tvm_pulp.planning.search.heuristics.tile_pipelines import pipelined
from tvm_pulp.planning.tiling.forms import CLUSTER, EngineChoice, SplitForm, Tiling, pin_of
from tvm_pulp.planning.tiling.schedule import NOTHING_IN_L3, can_interleave
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.uma.recipe import Job

# By how much a split has to make the network faster: all figures are estimates.
_LEAST_GAIN = 0.003
# The same where weights have to come long before: they take room and time of the DMA from others.
_LEAST_EARLY_GAIN = 0.02
# Cuts into pipelines by which orders are compared, where the other one takes at most so many times the cycles without.
_PIPELINES, _NEAR = 2, 1.05
# Kinds of layers that are tried, and layers of a kind of which half are tried as well.
_MOST_KINDS, _MANY = 8, 16


def balance_engines(evaluator: PlanEvaluator, *, overlap: bool, l2_bytes: int) -> PlanEvaluator:
    """The arrangement with the fewest expected cycles.

    As given, reordered, or with layers moved to the cores too; by depth, if pipelines of tiles gain from it; then with
    layers on two engines at once.
    """
    if not overlap:
        return evaluator
    candidates = [evaluator]
    orders = _orders(evaluator)
    candidates += [_apply(evaluator, order) for order in orders]
    groups = _splittable(evaluator.engine_choice)
    if _finishes_jobs(evaluator):
        candidates += [replace(candidate, interleave=True) for candidate in candidates]
    by_depth = _apply(evaluator, depth_order(evaluator.network))
    if len(candidates) == 1 and not groups and _same_order(by_depth, evaluator):
        return evaluator
    judged = [(expected_cycles(changed), position) for position, changed in enumerate(candidates)]
    known = [(cycles, position) for cycles, position in judged if cycles is not None]
    if not known:
        return evaluator
    cycles, position = min(known)
    best, by_depth = candidates[position], replace(by_depth, interleave=candidates[position].interleave)
    plain = None if _same_order(by_depth, best) else expected_cycles(by_depth)
    if plain is not None and plain < _NEAR * cycles and _gains_as_pipelines(by_depth, plain, best, l2_bytes):
        best, cycles = by_depth, plain
    divided, cycles = _with_splits(best, groups, cycles, l2_bytes)
    if divided is best or pipelined_cycles(best) >= cycles:
        return divided
    # Pipelines may have no use for divided layers.
    return divided if pipelined_cycles(divided) <= pipelined_cycles(best) else best


def _same_order(some: PlanEvaluator, other: PlanEvaluator) -> bool:
    return [layer.name for layer in some.network.layers] == [layer.name for layer in other.network.layers]


def _gains_as_pipelines(some: PlanEvaluator, plain: int, other: PlanEvaluator, l2_bytes: int) -> bool:
    """Tell if pipelines of one order, which takes `plain` cycles without, are faster than the other order, also with
    constants that come beside its jobs.

    Constants that come just in time hide what an order gains where transfers are many.
    """
    cycles = pipelined_cycles(some, plain)
    if math.isinf(cycles) or cycles >= pipelined_cycles(other):
        return False
    early = _cycles_within(other, BESIDE_JOBS, l2_bytes)
    return early is None or cycles < early or (_cycles_within(some, BESIDE_JOBS, l2_bytes) or math.inf) < early


def pipelined_cycles(evaluator: PlanEvaluator, plain: float = math.inf) -> float:
    """Expected cycles as pipelines of tiles; infinitely many where a layer does not fit.

    Infinitely many as well where L1 is so small that layers give up overlap and the first pipelines take far longer
    than the `plain` cycles that there are without: others do not make it larger.
    """
    least = math.inf
    with suppress(UserError):
        decisions = policy_decisions(evaluator, JUST_IN_TIME, whole_l1(evaluator), NOTHING_IN_L3)
        for _, wanted in islice(pipelined(evaluator, decisions, None), _PIPELINES):
            plan = evaluator.plan_once(wanted)
            if plan.gives_up_overlap and plan.estimated_cycles > _NEAR * plain:
                return math.inf
            least = min(least, plan.estimated_cycles)
        return least
    return math.inf


def _finishes_jobs(evaluator: PlanEvaluator) -> bool:
    """Tell if the cores finish what jobs begin: only then do steps of neighbouring layers between each other help."""
    return can_interleave(policy_decisions(evaluator, JUST_IN_TIME, whole_l1(evaluator), NOTHING_IN_L3).choices)


def expected_cycles(evaluator: PlanEvaluator) -> int | None:
    """Expected cycles; None where a layer does not fit: it is named when the network is planned as it is."""
    try:
        plan = evaluator.plan_once(policy_decisions(evaluator, JUST_IN_TIME, whole_l1(evaluator), NOTHING_IN_L3))
        if not plan.gives_up_overlap:
            return plan.estimated_cycles
        # Room for what overlaps may cost more than it wins in all layers.
        return min(plan.estimated_cycles, without_overlap(evaluator, NOTHING_IN_L3).cycles)
    except UserError:
        return None


def _cycles_within(evaluator: PlanEvaluator, lead: int, l2_bytes: int) -> int | None:
    """Expected cycles with constants fetched so long before; None where L1 or L2 has no room for that."""
    with suppress(UserError):
        plan = evaluator.plan_once(policy_decisions(evaluator, lead, whole_l1(evaluator), NOTHING_IN_L3))
        return plan.estimated_cycles if plan.l2_needed <= l2_bytes else None
    return None


def _splittable(engine_choice: EngineChoice) -> list[dict[str, str]]:
    """Pins of layers of one kind that could run on two engines, kinds with most layers first.

    A kind has one shape, and its results go to the same operators: what waits for it is alike as well.
    """
    kinds: dict[object, dict[str, str]] = {}
    readers: dict[Tensor, set[str]] = {}
    for entry in engine_choice.forms:
        for tensor in entry.layer.inputs:
            readers.setdefault(tensor.storage, set()).add(entry.layer.operator)
    for entry in engine_choice.forms:
        layer = entry.layer
        split = next((f for f in entry.tiled if isinstance(f, SplitForm)), None)
        if split is not None and layer.name not in engine_choice.pins:
            shapes = tuple(t.spec.shape for t in (*layer.inputs[:2], *layer.outputs))
            kind = (layer.operator, shapes, *(frozenset(readers.get(t.storage, ())) for t in layer.outputs))
            kinds.setdefault(kind, {})[layer.name] = pin_of(split)
    return sorted(kinds.values(), key=lambda pins: -len(pins))[:_MOST_KINDS]


def _with_splits(
    evaluator: PlanEvaluator, groups: Sequence[Mapping[str, str]], cycles: int, l2_bytes: int
) -> tuple[PlanEvaluator, int]:
    """Kinds of layers on two engines, one kind after the other, as long as that helps, and the expected cycles.

    Weights of the cores' parts are many: they may have to come beside jobs that are long before them. Those that do not
    help by themselves may do so beside one that does, where they are near: once more around. Then every other layer of
    a kind that repeated blocks have twice: transfers may have no time for both. That is tried with steps interleaved
    where this takes no longer: the other layer's job is submitted before the cores begin with their part of this one.
    """
    early = _cycles_within(evaluator, BESIDE_JOBS, l2_bytes) if groups else None

    def tried(pins: Mapping[str, str], *, may_be_early: bool = True) -> float:
        """Cycles with these pins too, taken where they are fewer, as parts of those before."""
        nonlocal evaluator, cycles
        choice = EngineChoice(evaluator.engine_choice.forms, {**pins, **evaluator.engine_choice.pins})
        changed, before = replace(evaluator, engine_choice=choice), cycles
        found = _cycles_within(changed, JUST_IN_TIME, l2_bytes)
        if found is not None and found < (1 - _LEAST_GAIN) * cycles:
            evaluator, cycles = changed, found
            return found / before
        sooner = _cycles_within(changed, BESIDE_JOBS, l2_bytes) if early is not None and may_be_early else None
        if early is not None and sooner is not None and sooner < (1 - _LEAST_EARLY_GAIN) * min(early, cycles):
            evaluator, cycles = changed, sooner
        return math.inf if found is None else found / before

    first, left = evaluator, list(groups)
    for _ in range(2):
        parts = [(pins, tried(pins, may_be_early=evaluator is first)) for pins in left]
        if evaluator is first:
            break
        left = [pins for pins, part in parts if part < _NEAR and not pins.keys() & evaluator.engine_choice.pins.keys()]
    halves = [pins for pins in left if len(pins) >= _MANY] if evaluator is not first else []
    if halves:
        mixed = replace(evaluator, interleave=True)
        if (_cycles_within(mixed, JUST_IN_TIME, l2_bytes) or math.inf) <= cycles:
            evaluator = mixed
    for pins in halves:
        for start in (0, 1):
            # Both halves are the kind as it was tried.
            if not pins.keys() & evaluator.engine_choice.pins.keys():
                tried(dict(list(pins.items())[start::2]), may_be_early=False)
    return evaluator, cycles


def _orders(evaluator: PlanEvaluator) -> Iterator[Order]:
    """Orders that differ from the given one."""
    network, costs = evaluator.network, evaluator.costs
    with suppress(UserError):
        demands = [_demand(evaluator.engine_choice, i, evaluator.l1_bytes) for i in range(len(network.layers))]
        plain = [replace(demand, on_cores=None) for demand in demands]
        given = Order(tuple(range(len(demands))), frozenset())
        found = (layer_order(network, plain, costs), layer_order(network, demands, costs))
        yield from (order for order in dict.fromkeys(found) if order != given)


def _apply(evaluator: PlanEvaluator, order: Order) -> PlanEvaluator:
    network, engine_choice = evaluator.network, evaluator.engine_choice
    layers = [network.layers[i] for i in order.layers]
    pins = {**{network.layers[i].name: CLUSTER for i in order.on_cores}, **engine_choice.pins}
    engine_choice = EngineChoice([engine_choice.forms[i] for i in order.layers], pins)
    return replace(evaluator, network=replace(network, layers=layers), engine_choice=engine_choice)


def _demand(engine_choice: EngineChoice, index: int, l1_bytes: int) -> EngineDemand:
    """The work of a layer for its engine when it runs by itself."""
    entry, tiling = engine_choice.forms[index], engine_choice.tiling(index, l1_bytes)
    if tiling.form.engine == CLUSTER:
        return _core_demand(tiling)
    pinned = entry.layer.name in engine_choice.pins
    cut = [cuts.within(l1_bytes) for cuts in entry.cuts if cuts.form.engine == CLUSTER and not pinned]
    fitting = [t for t in cut if isinstance(t, Tiling)]
    on_cores = _core_demand(min(fitting, key=lambda t: t.cycles)) if fitting else None
    jobs = [step for step in tiling.recipes[0].steps if isinstance(step, Job)]
    queue, words = max((j.queue for j in jobs), default=1), max((j.words for j in jobs), default=0)
    return EngineDemand(tiling.form.engine, tiling.cycles, (), on_cores, queue, words)


def _core_demand(tiling: Tiling) -> EngineDemand:
    return EngineDemand(None, tiling.cycles, tiling.recipe(tiling.tiles[0]).code)
