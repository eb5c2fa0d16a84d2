"""Pipelines of tiles in a plan: layers next to each other whose steps take turns."""

from tvm_pulp.planning.program.actions import Job, Kernel
from tvm_pulp.planning.program.plan_record import PlanJson


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


def pipeline_texts(plan: PlanJson) -> list[str]:
    """Every pipeline by the names of its layers."""
    return [" > ".join(plan.layers[layer].name for layer in layers) for layers in pipelines(plan)]
