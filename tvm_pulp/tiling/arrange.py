"""Order and engines of layers for the whole network: what one engine cannot hide, another may do meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from tvm_pulp.errors import UserError
from tvm_pulp.qnn.network import Network
from tvm_pulp.tiling.choose import Chooser, make_plan
from tvm_pulp.tiling.cluster import ENGINE as CLUSTER
from tvm_pulp.tiling.fit import JUST_IN_TIME
from tvm_pulp.tiling.order_layers import Order, Work, layer_order
from tvm_pulp.tiling.plan import Plan

Judge = Callable[[Plan], Plan]


def arranged(
    network: Network, chooser: Chooser, soc: Any, judge: Judge, cores: int, l1_bytes: int, *, overlap: bool
) -> tuple[Network, Chooser]:
    """The arrangement with the fewest expected cycles: as given, reordered, or with layers moved to the cores too."""
    candidates = [(network, chooser)]
    if overlap:
        candidates += [_apply(network, chooser, order) for order in _orders(network, chooser, l1_bytes)]
    if len(candidates) == 1:
        return candidates[0]
    judged = []
    for position, (changed, its_chooser) in enumerate(candidates):
        caps = [l1_bytes] * len(changed.layers)
        # A layer that does not fit is named when the network is planned as it is.
        with suppress(UserError):
            plan = make_plan(
                changed, soc, its_chooser, cores=cores, l1_bytes=l1_bytes, lead=JUST_IN_TIME, caps=caps, l3_from=None
            )
            judged.append((judge(plan).estimated_cycles, position))
    return candidates[min(judged)[1]] if judged else candidates[0]


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


def _apply(network: Network, chooser: Chooser, order: Order) -> tuple[Network, Chooser]:
    layers = [network.layers[i] for i in order.layers]
    pins = {**{network.layers[i].name: CLUSTER for i in order.on_cores}, **chooser.pins}
    return replace(network, layers=layers), Chooser([chooser.forms[i] for i in order.layers], pins)


def _work(chooser: Chooser, index: int, l1_bytes: int) -> Work:
    """What a layer asks of its engine when it is alone."""
    tiling, offers = chooser.offers(index, l1_bytes)
    engine = tiling.form.engine
    if engine == CLUSTER:
        return Work(None, tiling.cycles, tiling.form.name)
    pinned = chooser.forms[index].layer.name in chooser.pins
    others = [o.cycles for o in offers if o.engine == CLUSTER and o.cycles is not None]
    return Work(engine, tiling.cycles, tiling.form.name, min(others) if others and not pinned else None)
