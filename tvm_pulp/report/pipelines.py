"""Layers of a plan that run at the same time: pipelines of tiles, whose steps take turns, and layers side by side."""

from collections.abc import Iterator
from itertools import groupby

from tvm_pulp.planning.program.actions import JobAction, KernelAction
from tvm_pulp.planning.program.plan_record import LayerJson, PlanJson
from tvm_pulp.uma.teams import parts


def pipelines(plan: PlanJson) -> list[list[int]]:
    """Layers of every pipeline: each begins before the last step of those before it."""
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for position, step in enumerate(plan.program):
        for action in step.actions:
            if isinstance(action, KernelAction | JobAction):
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


def side_by_side_texts(plan: PlanJson) -> list[str]:
    """Neighbouring layers on teams, with the cores of each: `a > b on cores 0 to 127, c on cores 128 to 255`."""
    groups = groupby(plan.layers, key=lambda layer: layer.team is not None)
    return [", ".join(_teams(list(layers), plan.cores)) for of_teams, layers in groups if of_teams]


def _teams(layers: list[LayerJson], cores: int) -> Iterator[str]:
    for team in sorted({layer.team for layer in layers if layer.team is not None}):
        count = cores // parts(team)
        first = (team - parts(team)) * count
        names = " > ".join(layer.name for layer in layers if layer.team == team)
        yield f"{names} on cores {first} to {first + count - 1}"


def overlap_texts(plan: PlanJson) -> list[str]:
    """Layers that run at the same time, in words: those of pipelines by their names, and those side by side."""
    mixed = [" > ".join(plan.layers[layer].name for layer in layers) for layers in pipelines(plan)]
    return [f"pipeline of tiles: {names}" for names in mixed] + [f"side by side: {t}" for t in side_by_side_texts(plan)]
