"""`tvmc explain`: layer by layer the engine, the reason, and what the others would have taken."""

from collections.abc import Iterable
from typing import TextIO

from tvm_pulp.planning.tiling.plan import LayerPlan, Plan
from tvm_pulp.qnn.network import Layer
from tvm_pulp.report.figures import summed
from tvm_pulp.report.plan_table import print_state


def layer_head(layer: Layer) -> str:
    """The line that says what a layer computes."""
    data = ", ".join(f"{t.spec}" for t in layer.inputs if t.kind != "constant")
    made = ", ".join(str(t.spec) for t in layer.outputs)
    macs = f", {layer.macs:,} MAC" if layer.macs else ""
    return f"{layer.name}: {layer.operator} {data} -> {made}{macs}"


def print_nodes(layer: Layer, stream: TextIO) -> None:
    """Which nodes of the model file a layer is, where its name does not say so."""
    if layer.nodes and layer.nodes != (layer.name,):
        print(f"    made of {', '.join(layer.nodes)}", file=stream)


def explain_plan(plan: Plan, stream: TextIO) -> None:
    """With a cluster: the choice, the alternatives and the refusals."""
    for layer in plan.layers:
        print(layer_head(layer.layer), file=stream)
        if layer.layer.parts:
            inside = ", ".join(f"{part.name} ({part.operator})" for part in layer.layer.parts)
            print(f"    a region of {inside}", file=stream)
        for line in _choice(layer):
            print(f"    {line}", file=stream)
        print_nodes(layer.layer, stream)
    print_state(plan.network, stream)
    macs = _shares((layer.engine, layer.layer.macs) for layer in plan.layers)
    print(f"MACs by engine: {macs}; about {plan.estimated_cycles:,} cycles in all", file=stream)
    print(f"time by engine: {_shares((layer.engine, layer.added_cycles) for layer in plan.layers)}", file=stream)


def _shares(engines: Iterable[tuple[str, int]]) -> str:
    amounts = summed(engines)
    total = max(1, sum(amounts.values()))
    return ", ".join(f"{engine} {100 * amount / total:.1f} %" for engine, amount in amounts.items())


def _choice(plan: LayerPlan) -> list[str]:
    tiling, count = plan.tiling, len(plan.tiles)
    tiles = f"{count} tile{'s' if count > 1 else ''} of {'x'.join(map(str, tiling.size))}"
    # What others offer is without any overlap; what is chosen is as it runs in the plan.
    cost = f"about {plan.added_cycles:,} cycles in the plan, {tiles}, {tiling.l1_bytes:,} bytes of L1"
    lines = [f"-> {plan.engine}, {tiling.form.name}: {cost}"]
    rounding = tiling.form.rounding
    if rounding.on_cores:
        lines.append(f"   the cores requantize because {rounding.on_cores}")
    if rounding.deviation:
        lines.append(f"   native requantization deviates by at most {rounding.deviation} LSB")
    own = {(offer.engine, offer.form): offer.cycles for offer in plan.offers}.get((plan.engine, tiling.form.name))
    for offer in plan.offers:
        if (offer.engine, offer.form) == (plan.engine, tiling.form.name):
            continue
        known = []
        if offer.cycles is not None:
            known = [f"about {offer.cycles:,} cycles alone{_but(offer.cycles, plan.added_cycles, own)}"]
        cost = ", ".join([*known, *([offer.reason] if offer.reason else [])])
        lines.append(f"not {offer.engine}, {offer.form}: {cost}")
    for refusal in plan.refusals:
        remedy = f"; {refusal.remedy} and it would run there" if refusal.remedy else ""
        lines.append(f"not {refusal.engine}: {refusal.reason}{remedy}")
    return lines


def _but(cycles: int, added: int, own: int | None) -> str:
    """The reason why something was not chosen that looks faster by itself than what was."""
    if cycles >= max(added, own or 0):
        return ""
    if own is not None and own <= cycles:
        return f", but what was chosen takes {own:,} alone: the rest of its {added:,} is waiting for what is around it"
    if added < cycles:
        alone = "" if own is None else f" of its {own:,} alone"
        return f", but in the plan the choice adds {added:,}{alone}: it works beside what is around it"
    return ", but with what was chosen the whole network is expected to be faster"
