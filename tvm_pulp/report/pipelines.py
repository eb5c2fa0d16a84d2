"""Pipelines of tiles in a plan: layers next to each other whose steps take turns."""

from tvm_pulp.planning.program.actions import Job, Kernel
from tvm_pulp.planning.program.plan_record import PlanJson
from tvm_pulp.report.side_by_side import side_by_side_texts


def pipelines(plan: PlanJson) -> list[list[int]]:
    """Layers of every pipeline: each begins before the last step of those before it."""
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for position, step in enumerate(plan.program):
        for action in step.actions:
            if isinstance(action, Kernel | Job):
                first.setdefault(action.layer, position)
                last[action.layer] = position
    found: list[list[int]] = []
    end = -1
    for layer in range(len(plan.layers)):
        if layer not in first:
            continue
        if found and first[layer] < end:
            found[-1].append(layer)
        else:
            found.append([layer])
        end = max(end, last[layer])
    return [layers for layers in found if len(layers) > 1]


def overlap_texts(plan: PlanJson) -> list[str]:
    """Layers that run at the same time, in words: those of pipelines by their names, and those side by side."""
    mixed = [" > ".join(plan.layers[layer].name for layer in layers) for layers in pipelines(plan)]
    return [f"pipeline of tiles: {names}" for names in mixed] + [f"side by side: {t}" for t in side_by_side_texts(plan)]
