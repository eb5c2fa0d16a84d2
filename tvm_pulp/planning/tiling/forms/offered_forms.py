"""Offers of every engine for the layers of a network, and pins that users may state."""

from collections.abc import Container, Mapping, Sequence
from typing import Any

from tvm_pulp.errors import UserError
from tvm_pulp.grouped import grouped
from tvm_pulp.planning.tiling.forms.cluster_forms import CLUSTER, core_forms
from tvm_pulp.planning.tiling.forms.cuts import Cuts
from tvm_pulp.planning.tiling.forms.layer_forms import LayerForms
from tvm_pulp.planning.tiling.forms.split_form import split_form
from tvm_pulp.qnn.network import Layer, Network
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.uma.annotate import Annotated
from tvm_pulp.uma.backend import UMABackend
from tvm_pulp.uma.recipe import Load, Recipe, Store
from tvm_pulp.uma.strategy import Refusal


def check_pins(
    network: Network, engines: Sequence[tuple[UMABackend, Any]], pins: Mapping[str, str], decided: Container[str] = ()
) -> None:
    """Pins name layers and engines that exist. `decided`: layers whose engine stands in a file of decisions."""
    known = {layer.name for layer in network.layers}
    names = {CLUSTER, *(name for b, _ in engines for name in (b.target_name, f"{b.target_name}+{CLUSTER}"))}
    for node, engine in pins.items():
        said = f"--decide: layer '{node}'" if node in decided else f"--pin {node}={engine}"
        if node not in known:
            raise UserError(f"{said}: there is no layer '{node}'; `tvmc explain` lists them")
        if engine not in names:
            raise UserError(f"{said}: engine '{engine}' is not part of this target ({', '.join(sorted(names))})")


def offered_forms(
    layers: Sequence[Layer], annotated: Annotated, soc: Any, engines: Sequence[tuple[UMABackend, Any]], cores: int
) -> list[LayerForms]:
    """Offers of every engine for every layer. `engines` are backends with their contexts, by priority.

    The cores run single operators; a region of several exists on the engines only whose pattern found it.
    """
    costs = CostModel(soc, cores)
    named = {backend.target_name: (backend, context) for backend, context in engines}
    regions = grouped((region.layer, region) for region in annotated.regions)
    found = []
    for layer in layers:
        cuts: list[Cuts] = []
        refusals = list(annotated.refusals.get(layer, ()))
        for region in regions.get(layer, ()):
            backend, context = named[region.engine]
            answer = backend.offer(region.pattern, layer, context)
            if isinstance(answer, Refusal):
                refusals.append(answer)
            else:
                cuts += [Cuts(form, layer, costs, region.pattern) for form in answer]
        if not layer.parts:
            on_cores = [Cuts(form, layer, costs) for form in core_forms(layer, costs)]
            both = split_form(layer, cuts, on_cores[:-1])
            cuts += [*on_cores, *([both] if both else [])]
        if any(t.storage.level == "l1" for t in layer.operands):
            cuts = [entry for entry in cuts if _in_place(entry.whole)] or cuts
        found.append(LayerForms(layer, tuple(cuts), tuple(refusals), costs))
    return found


def _in_place(whole: Recipe) -> bool:
    """Tell if a layer works on state in L1 where it lies."""
    return not any(isinstance(s, Load | Store) and s.tensor.storage.level == "l1" for s in whole.steps)
