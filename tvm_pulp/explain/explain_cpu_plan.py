"""`tvmc explain` of a CPU by itself: layer by layer the form, and why the other forms are not taken."""

from collections.abc import Iterator, Sequence
from typing import TextIO

from tvm_pulp.explain.explain_nodes import explain_nodes
from tvm_pulp.explain.explain_plan import layer_head, print_nodes
from tvm_pulp.frontend.imported import SourceNode
from tvm_pulp.planning.cpu import CpuPlan
from tvm_pulp.qnn.network import Layer


def explain_cpu_plan(plan: CpuPlan, stream: TextIO, nodes: Sequence[SourceNode] = ()) -> None:
    """Print what became of every node of the file, then the layers in order."""
    network = plan.whole
    if nodes:
        explain_nodes(nodes, network, stream)
        print("", file=stream)
    for layer in network.layers:
        print(layer_head(layer), file=stream)
        for line in (_kind(layer), *_choice(plan, layer)):
            print(f"    {line}", file=stream)
        print_nodes(layer, stream)
    total = sum(not layer.is_float for layer in network.layers)
    print(f"{total} of {len(network.layers)} layers in the integer dialect, {network.macs:,} MAC", file=stream)
    strips, room = plan.decisions.strips, f"activations take {plan.arena.size:,} bytes"
    if strips is not None:
        more = plan.network.macs - network.macs
        room += (
            f", with layers {strips.first} to {strips.last} in {strips.count} strips: {more:,} MAC are computed again"
        )
    print(f"{room}; constants {plan.constant_bytes:,} bytes", file=stream)


def _kind(layer: Layer) -> str:
    if layer.operator.startswith("tir."):
        return "ordinary Relax operator, compiled to plain C by TVM: not in the integer dialect"
    return f"{'float' if layer.is_float else 'integer dialect'} operator qnn.{layer.operator}"


def _choice(plan: CpuPlan, layer: Layer) -> Iterator[str]:
    """The form that was chosen, and every other one with a reason."""
    chosen, parts = plan.decisions.forms[layer.name], (plan.decisions.parts or {}).get(layer.name, 1)
    call = plan.offers.call(layer, chosen)
    constants = sum(t.spec.bytes for t in layer.inputs if t.kind == "constant") if call is None else call.constant_bytes
    work = sum(t.spec.bytes for t in (layer if call is None else call.layer).workspaces)
    shared = f", in {parts} parts for threads" if parts > 1 else ""
    yield f"-> {chosen}: {constants:,} bytes of constants, {work:,} to work in{shared}"
    none = plan.offers.why_none(layer)
    if none is not None:
        yield f"not a kernel: {none}"
    for offer in plan.offers.of(layer):
        if offer.form.name == chosen:
            continue
        if offer.call is None:
            yield f"not {offer.form.name}: {offer.reason}"
        elif offer.form.takes_spare_flash:
            yield f"not {offer.form.name}: {_flash(plan, offer.call.constant_bytes - constants)}"
        else:
            yield f"not {offer.form.name}: {_other(offer.call.constant_bytes, constants)}"


def _flash(plan: CpuPlan, more: int) -> str:
    """The reason why a form that takes spare flash is not taken."""
    limit = plan.request.flash_limit
    allowed = "--flash says how much there is" if limit is None else f"--flash {limit} leaves no room for them"
    return f"faster, for {more:,} bytes of constants more: {allowed}"


def _other(constants: int, chosen: int) -> str:
    """The reason why a form is not taken that would do."""
    return f"it would take {constants:,} bytes of constants instead of {chosen:,}; what was chosen is faster"
