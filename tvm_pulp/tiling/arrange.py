"""Order and engines of layers for the whole network: what one engine cannot hide, another may do meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from tvm_pulp.errors import UserError
from tvm_pulp.qnn.network import Network
from tvm_pulp.tiling.choose import Chooser
from tvm_pulp.tiling.cluster import ENGINE as CLUSTER
from tvm_pulp.tiling.decisions import nothing_in_l3
from tvm_pulp.tiling.judge import Judge
from tvm_pulp.tiling.order_layers import Order, Work, layer_order
from tvm_pulp.tiling.search import JUST_IN_TIME, wanted, whole_l1
from tvm_pulp.tiling.split_form import SplitForm, pin_of

# By how much a split has to make the network faster: all figures are estimates.
_LEAST_GAIN = 0.003
# Kinds of layers that are tried.
_MOST_KINDS = 8


def arranged(judge: Judge, *, overlap: bool) -> Judge:
    """The arrangement with the fewest expected cycles.

    As given, reordered, or with layers moved to the cores too; then with layers on two engines at once.
    """
    if not overlap:
        return judge
    candidates = [judge]
    orders = _orders(judge.network, judge.chooser, judge.l1_bytes)
    candidates += [_apply(judge, order) for order in orders]
    groups = _splittable(judge.chooser)
    if len(candidates) == 1 and not groups:
        return judge
    judged = [(expected_cycles(changed), position) for position, changed in enumerate(candidates)]
    known = [(cycles, position) for cycles, position in judged if cycles is not None]
    if not known:
        return judge
    cycles, position = min(known)
    return _with_splits(candidates[position], groups, cycles)


def expected_cycles(judge: Judge) -> int | None:
    """Expected cycles; None where a layer does not fit: it is named when the network is planned as it is."""
    try:
        return judge.once(wanted(judge.chooser, JUST_IN_TIME, whole_l1(judge), nothing_in_l3)).estimated_cycles
    except UserError:
        return None


def _splittable(chooser: Chooser) -> list[dict[str, str]]:
    """Pins of layers of one kind that could run on two engines, kinds with most layers first."""
    kinds: dict[object, dict[str, str]] = {}
    for entry in chooser.forms:
        layer = entry.layer
        split = next((f for f in entry.tiled if isinstance(f, SplitForm)), None)
        if split is not None and layer.name not in chooser.pins:
            kind = (layer.operator, tuple(t.spec.shape for t in (*layer.inputs[:2], *layer.outputs)))
            kinds.setdefault(kind, {})[layer.name] = pin_of(split)
    return sorted(kinds.values(), key=lambda pins: -len(pins))[:_MOST_KINDS]


def _with_splits(judge: Judge, groups: Sequence[Mapping[str, str]], cycles: int) -> Judge:
    """Kinds of layers on two engines, one kind after the other, as long as that helps."""
    for pins in groups:
        chooser = Chooser(judge.chooser.forms, {**pins, **judge.chooser.pins})
        changed = replace(judge, chooser=chooser)
        found = expected_cycles(changed)
        if found is not None and found < (1 - _LEAST_GAIN) * cycles:
            judge, cycles = changed, found
    return judge


def _orders(network: Network, chooser: Chooser, l1_bytes: int) -> Iterator[Order]:
    """Orders that differ from the given one."""
    with suppress(UserError):
        works = [_work(chooser, i, l1_bytes) for i in range(len(network.layers))]
        plain = [replace(work, core_cycles=None) for work in works]
        known = {Order(tuple(range(len(works))), frozenset())}
        for order in (layer_order(network, plain), layer_order(network, works)):
            if order not in known:
                known.add(order)
                yield order


def _apply(judge: Judge, order: Order) -> Judge:
    network, chooser = judge.network, judge.chooser
    layers = [network.layers[i] for i in order.layers]
    pins = {**{network.layers[i].name: CLUSTER for i in order.on_cores}, **chooser.pins}
    chooser = Chooser([chooser.forms[i] for i in order.layers], pins)
    return replace(judge, network=replace(network, layers=layers), chooser=chooser)


def _work(chooser: Chooser, index: int, l1_bytes: int) -> Work:
    """What a layer asks of its engine when it is alone."""
    tiling, offers = chooser.offers(index, l1_bytes)
    engine = tiling.form.engine
    if engine == CLUSTER:
        return Work(None, tiling.cycles, tiling.form.name)
    pinned = chooser.forms[index].layer.name in chooser.pins
    others = [o.cycles for o in offers if o.engine == CLUSTER and o.cycles is not None]
    return Work(engine, tiling.cycles, tiling.form.name, min(others) if others and not pinned else None)
