"""Layers of a plan that take far longer than their engine would or ought to, largest loss first, with their reasons."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TextIO

from tvm_pulp.explain.explain_nodes import why_float
from tvm_pulp.frontend.imported import SourceNode
from tvm_pulp.planning.tiling.plan import LayerPlan, Plan
from tvm_pulp.uma.strategy import HasAvoidableCycles

# Losses that are named, and the part of the cycles below which one is not.
_SHOWN, _WORTH = 5, 0.01
# A layer of so many multiply-accumulates that does fewer a cycle is slow whatever the reason.
_LARGE, _SLOW = 50_000, 2


@dataclass(frozen=True)
class Loss:
    """Cycles of a layer above its bound."""

    layer: LayerPlan
    cycles: int
    reason: str


def lost_cycles(plan: Plan, nodes: Sequence[SourceNode] = ()) -> list[Loss]:
    """Those with a reason that is worth a line, largest first."""
    found = []
    for layer in plan.layers:
        cycles = layer.added_cycles - layer.tiling.form.bound_cycles()
        reason = _reason(layer, nodes)
        if reason and cycles > _WORTH * plan.estimated_cycles:
            found.append(Loss(layer, cycles, reason))
        form = layer.tiling.form
        avoidable = form.avoidable_cycles() if isinstance(form, HasAvoidableCycles) else None
        if avoidable is not None:
            cycles = round(avoidable.share * form.bound_cycles())
            if cycles > _WORTH * plan.estimated_cycles:
                found.append(Loss(layer, cycles, avoidable.reason))
    return sorted(found, key=lambda loss: -loss.cycles)


def _reason(layer: LayerPlan, nodes: Sequence[SourceNode]) -> str:
    """Floats, an engine that does not take the layer, work of the cores behind an engine, or that it is just slow."""
    if layer.layer.has_floats:
        return f"it is float: {why_float(layer.layer, nodes)}"
    if layer.refusals:
        refusal = layer.refusals[0]
        remedy = f"; {refusal.remedy}" if refusal.remedy else ""
        return f"not on {refusal.engine}: {refusal.reason}{remedy}"
    rounding = layer.tiling.form.rounding
    if rounding.on_cores:
        return f"the cores requantize because {rounding.on_cores}"
    return "its loops have too little work in a row" if _is_slow(layer) else ""


def _is_slow(layer: LayerPlan) -> bool:
    return layer.layer.macs >= _LARGE and layer.layer.macs < _SLOW * layer.added_cycles


def print_lost_cycles(plan: Plan, nodes: Sequence[SourceNode], stream: TextIO) -> None:
    found = lost_cycles(plan, nodes)
    if not found:
        return
    print("where most cycles above the bound go:", file=stream)
    for number, loss in enumerate(found[:_SHOWN], start=1):
        share = 100 * loss.cycles / max(1, plan.estimated_cycles)
        rate = f", {loss.layer.layer.macs / loss.layer.added_cycles:.1f} MAC per cycle" if _is_slow(loss.layer) else ""
        head = f"about {loss.cycles:,} cycles ({share:.0f} %) in '{loss.layer.layer.name}'{rate}"
        print(f"  {number}. {head}: {loss.reason}", file=stream)
    if rest := found[_SHOWN:]:
        print(f"  and about {sum(loss.cycles for loss in rest):,} in {len(rest)} more", file=stream)
