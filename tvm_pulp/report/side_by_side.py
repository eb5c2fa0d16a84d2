"""Layers of a plan that run side by side, each on a part of the cores."""

from collections.abc import Iterator
from itertools import groupby

from tvm_pulp.planning.program.plan_record import Layer, PlanJson
from tvm_pulp.uma.teams import parts


def side_by_side_texts(plan: PlanJson) -> list[str]:
    """Neighbouring layers on teams, with the cores of each: `a > b on cores 0 to 127, c on cores 128 to 255`."""
    groups = groupby(plan.layers, key=lambda layer: layer.team is not None)
    return [", ".join(_teams(list(layers), plan.cores)) for of_teams, layers in groups if of_teams]


def _teams(layers: list[Layer], cores: int) -> Iterator[str]:
    for team in sorted({layer.team for layer in layers if layer.team is not None}):
        count = cores // parts(team)
        first = (team - parts(team)) * count
        names = " > ".join(layer.name for layer in layers if layer.team == team)
        yield f"{names} on cores {first} to {first + count - 1}"
