"""Decisions made into a plan: layers are cut, called and placed, in this order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tvm_pulp.planning.cpu.decisions import CpuDecisions
from tvm_pulp.planning.cpu.kernel_offers import KernelOffers
from tvm_pulp.planning.cpu.plan import CalledLayer, CpuPlan, CpuRequest
from tvm_pulp.planning.cpu.strips import Stage
from tvm_pulp.planning.tiling.place.arena import Arena, plan_arena
from tvm_pulp.planning.tiling.place.in_place import buffers, overwritten
from tvm_pulp.qnn.network import Layer, Network, Tensor

# A layer of the program with the whole layer that it is, or is a part of.
_Parts = list[tuple[Layer, Layer]]


def evaluate(whole: Network, decisions: CpuDecisions, request: CpuRequest, offers: KernelOffers) -> CpuPlan:
    """The plan that decisions lead to."""
    parts, groups = _cut(whole, decisions)
    layers = tuple(_called(parts, decisions.forms, offers))
    network = replace(whole, layers=[layer.called for layer in layers])
    may_overwrite = {layer.called: layer.call.overwrites for layer in layers if layer.call is not None}
    is_free = not request.keep_layers and not groups
    taken = overwritten(network, may_overwrite) if is_free else {}
    return CpuPlan(request, decisions, whole, layers, groups, _placed(network, taken, groups, request), taken, offers)


def _cut(whole: Network, decisions: CpuDecisions) -> tuple[_Parts, tuple[int, ...]]:
    """Layers in strips or in parts for threads, and how many follow each other as parts of one."""
    names = [layer.name for layer in whole.layers]
    if decisions.strips is not None:
        stage = Stage(whole, names.index(decisions.strips.first), names.index(decisions.strips.last))
        cut, of = stage.in_strips(decisions.strips.count)
        return [(layer, of.get(layer, layer)) for layer in cut.layers], ()
    if decisions.parts is None:
        return [(layer, layer) for layer in whole.layers], ()
    counts = [decisions.parts.get(name, 1) for name in names]
    parts: _Parts = []
    for index, (layer, count) in enumerate(zip(whole.layers, counts, strict=True)):
        cut = Stage(whole, index, index).in_strips(count)[0] if count > 1 else whole
        parts += [(part, layer) for part in cut.layers[index : index + count]]
    return parts, tuple(counts)


def _called(parts: _Parts, forms: Mapping[str, str], offers: KernelOffers) -> Iterator[CalledLayer]:
    """Layers with the operands of their C functions; equal constants of several are one."""
    constants: dict[Any, Tensor] = {}
    for layer, whole in parts:
        form = forms[whole.name]
        call = offers.call(layer, form)
        yield CalledLayer(whole.name, layer, layer if call is None else _sharing(call.layer, constants), form, call)


def _sharing(layer: Layer, known: dict[Any, Tensor]) -> Layer:
    """A layer whose constants are those of another that has the same; parts of a layer have many."""
    inputs = []
    for tensor in layer.inputs:
        if tensor.kind == "constant" and tensor.view_of is None:
            key = (tensor.spec, tensor.level, tensor.values.tobytes())
            tensor = known.setdefault(key, tensor)
        inputs.append(tensor)
    return replace(layer, inputs=inputs)


def _placed(network: Network, taken: Mapping[Tensor, Tensor], groups: Sequence[int], request: CpuRequest) -> Arena:
    """Offsets of all activations and workspaces in one arena.

    `taken`: results with the tensors whose places they take. `groups`: so many layers each run at the same time.
    """
    lifetimes = network.lifetimes()
    if groups:
        moment = [number for number, count in enumerate(groups) for _ in range(count)]
        lifetimes = {t: (moment[first], moment[last]) for t, (first, last) in lifetimes.items()}
    if request.keep_layers:
        lifetimes = dict.fromkeys(lifetimes, (0, len(network.layers)))
    arena = plan_arena([replace(b, size=b.size + request.guard) for b in buffers(lifetimes, taken) if b.size])
    return replace(arena, offsets=arena.offsets | {t: arena.offsets[place] for t, place in taken.items()})
