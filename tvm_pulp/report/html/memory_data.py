"""Memories of a page: which bytes hold what over time, and constants that stay where they are."""

from collections.abc import Mapping, Sequence
from typing import Any

from tvm_pulp.planning.program import CpuPlanJson, PlanJson
from tvm_pulp.report.cpu_plan import makers_in, moments_of
from tvm_pulp.report.cycle_axis import CycleAxis
from tvm_pulp.report.plan_pictures import accesses_of, first_writer, makers_of

_NAMES = {"l1": "L1", "l2": "L2", "l3": "L3", "wmem": "weight memory"}


def memory_data(
    report: Mapping[str, Any],
    facts: Mapping[str, Any],
    plan: PlanJson | None,
    axis: CycleAxis | None,
    cpu_plan: CpuPlanJson | None = None,
) -> list[dict[str, Any]]:
    """Levels with bytes used and available; of planned ones blocks over expected time and constants.

    Time of a CPU by itself is counted in layers.
    """
    users = first_users(facts["layers"], plan) if plan is not None else {}
    levels = []
    for level, figures in report["memory"].items():
        entry = {
            "name": _NAMES.get(level, level),
            "peak": figures["peak"],
            "capacity": figures.get("capacity"),
            "live": figures.get("largest_live_set"),
        }
        if plan is not None and axis is not None:
            entry |= {"end": axis.cycles, "unit": "expected cycles"}
            entry |= _blocks(level, plan, axis, users)
            entry["constants"] = [
                [constant.name, constant.bytes, users.get(constant.name)]
                for constant in plan.constants
                # Parts of the weight memory are one level here.
                if (constant.level if constant.level in ("l1", "l2", "l3") else "wmem") == level
            ]
        if cpu_plan is not None:
            entry |= _cpu_blocks(level, cpu_plan)
        if entry["peak"]:
            levels.append(entry)
    return levels


def _blocks(level: str, plan: PlanJson, axis: CycleAxis, users: Mapping[str, int]) -> dict[str, Any]:
    """Name, offset, bytes, first and last expected cycle, and the layer that makes or first uses it."""
    places = {"l1": plan.blocks, "l2": plan.l2.tensors}.get(level)
    if not places:
        return {}
    makers = makers_of(plan)
    blocks = []
    for place in places:
        layer = makers.get(place.name, users.get(place.name))
        if layer is None and level == "l1":
            layer = first_writer(plan, place)
        blocks.append([place.name, place.offset, place.bytes, *axis.span(place.alive), layer])
    return {"blocks": blocks, "size": plan.l1_bytes if level == "l1" else plan.l2.size}


def _cpu_blocks(level: str, plan: CpuPlanJson) -> dict[str, Any]:
    """The same of a CPU by itself: buffers of the arena, or constants with the layer that reads each first."""
    if level == "arena":
        makers, end = makers_in(plan), moments_of(plan)
        blocks = [
            [b.name, b.offset, b.bytes, b.alive[0], min(b.alive[1] + 1, end), makers.get(b.name)] for b in plan.buffers
        ]
        return {"blocks": blocks, "size": plan.arena_bytes, "end": end, "unit": "layers"}
    if level != "constants":
        return {}
    readers: dict[str, int] = {}
    for number, step in enumerate(plan.program):
        for touch in step.reads:
            readers.setdefault(touch.tensor, number)
    return {"constants": [[c.name, c.bytes, readers.get(c.name)] for c in plan.constants]}


def first_users(layers: Sequence[Mapping[str, Any]], plan: PlanJson) -> dict[str, int]:
    """Content -> the layer that reads it as a constant first, or whose action touches it or what travels with it."""
    found: dict[str, int] = {}
    for number, facts in enumerate(layers):
        for name in facts.get("constants", ()):
            found.setdefault(name, number)
    for layer, access in accesses_of(plan):
        for name in (access.content.split("[")[0], access.space):
            found.setdefault(name, layer)
    for bundle in plan.bundles:
        if bundle.name in found:
            for piece in bundle.pieces:
                found.setdefault(piece.content.split("[")[0], found[bundle.name])
    return found
