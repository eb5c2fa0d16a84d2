"""Engine choice: every engine offers its planned cycles for a layer, the cheapest wins unless the user pins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tvm_pulp.errors import UserError
from tvm_pulp.qnn.network import Layer, Network
from tvm_pulp.tiling.cluster import ENGINE as CLUSTER
from tvm_pulp.tiling.cluster import DirectForm, TiledForm
from tvm_pulp.tiling.greedy import Tiling, missing_l1, tile_form
from tvm_pulp.tiling.plan import LayerPlan, Offer, Plan, plan_l2, plan_layer
from tvm_pulp.uma.backend import UMABackend
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.registry import core_schedules
from tvm_pulp.uma.strategy import Refusal


def greedy_plan(
    network: Network,
    soc: Any,
    engines: Sequence[tuple[UMABackend, Any]],
    *,
    cores: int,
    l1_bytes: int,
    pins: Mapping[str, str],
) -> Plan:
    """Plan all layers. `engines` are backends with their contexts, by priority."""
    known = {layer.name for layer in network.layers}
    names = {CLUSTER, *(b.target_name for b, _ in engines)}
    for node, engine in pins.items():
        if node not in known:
            raise UserError(f"--pin {node}={engine}: there is no layer '{node}'; `tvmc explain` lists them")
        if engine not in names:
            raise UserError(
                f"--pin {node}={engine}: engine '{engine}' is not part of this target ({', '.join(sorted(names))})"
            )
    # Hand-written kernels are for cores with XpulpV2; all others run generated C.
    schedules = core_schedules() if soc.cluster.isa.xpulp else ()
    layers = tuple(
        _plan_layer(layer, engines, schedules, cores, l1_bytes, pins.get(layer.name)) for layer in network.layers
    )
    return Plan(network, soc.name, cores, l1_bytes, layers, plan_l2(network, layers))


def _plan_layer(
    layer: Layer,
    engines: Sequence[tuple[UMABackend, Any]],
    schedules: Sequence[Any],
    cores: int,
    l1_bytes: int,
    pin: str | None,
) -> LayerPlan:
    offers: list[Offer] = []
    refusals: list[Refusal] = []
    choices: list[Tiling] = []
    for backend, context in engines:
        answer = backend.offer(layer, context)
        if isinstance(answer, Refusal):
            refusals.append(answer)
            continue
        for form in answer:
            _consider(form, layer, l1_bytes, choices, offers)
    for schedule in schedules:
        for form in schedule(layer, cores):
            _consider(form, layer, l1_bytes, choices, offers)
    cluster = tile_form(TiledForm(layer, cores), layer, l1_bytes)
    if isinstance(cluster, Tiling):
        choices.append(cluster)
        offers.append(Offer(CLUSTER, cluster.form.name, cluster.cycles))
    elif TiledForm(layer, cores).axes():
        # A layer that can be cut must fit: running it from L2 would be a silent cliff.
        if not choices:
            raise missing_l1(layer, cluster, l1_bytes)
        offers.append(Offer(CLUSTER, "tiled", None, f"needs {cluster} bytes of L1"))
    else:
        form = DirectForm(layer, cores)
        whole = Box.whole(layer.outputs[0].spec.shape)
        recipe = form.recipe(whole)
        choices.append(Tiling(form, whole.size, 0, recipe.cycles, (whole,)))
        offers.append(Offer(CLUSTER, form.name, recipe.cycles))
    if pin is not None:
        choices = [c for c in choices if c.form.engine == pin]
        if not choices:
            why = next((r.reason for r in refusals if r.engine == pin), "it does not fit")
            raise UserError(f"--pin {layer.name}={pin}: {pin} cannot run this {layer.operator} because {why}")
    # Equal cycles: the engine named first.
    best = min(choices, key=lambda c: c.cycles)
    return plan_layer(layer, best, offers, refusals)


def _consider(form: Any, layer: Layer, l1_bytes: int, choices: list[Tiling], offers: list[Offer]) -> None:
    tiling = tile_form(form, layer, l1_bytes)
    if isinstance(tiling, Tiling):
        choices.append(tiling)
        offers.append(Offer(form.engine, form.name, tiling.cycles))
    else:
        offers.append(Offer(form.engine, form.name, None, f"needs {tiling} bytes of L1"))
