"""Order and engines of layers for the whole network: what one engine cannot hide, another may do meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from tvm_pulp.errors import UserError
from tvm_pulp.qnn.network import Network
from tvm_pulp.tiling.choose import Chooser
from tvm_pulp.tiling.cluster import ENGINE as CLUSTER
from tvm_pulp.tiling.decisions import nothing_in_l3
from tvm_pulp.tiling.judge import Judge
from tvm_pulp.tiling.order_layers import Order, Work, layer_order
from tvm_pulp.tiling.search import JUST_IN_TIME, wanted


def arranged(judge: Judge, *, overlap: bool) -> Judge:
    """The arrangement with the fewest expected cycles: as given, reordered, or with layers moved to the cores too."""
    candidates = [judge]
    if overlap:
        orders = _orders(judge.network, judge.chooser, judge.l1_bytes)
        candidates += [_apply(judge, order) for order in orders]
    if len(candidates) == 1:
        return judge
    judged = []
    for position, changed in enumerate(candidates):
        caps = [judge.l1_bytes] * len(changed.network.layers)
        # A layer that does not fit is named when the network is planned as it is.
        with suppress(UserError):
            plan = changed(wanted(changed.chooser, JUST_IN_TIME, caps, nothing_in_l3))
            judged.append((plan.estimated_cycles, position))
    return candidates[min(judged)[1]] if judged else judge


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
