"""Choices about layers that are no more than their recipes."""

from typing import Any

from tvm_pulp.planning.tiling.forms.cuts import Tiling
from tvm_pulp.planning.tiling.schedule.choice import Choice
from tvm_pulp.uma.recipe import Recipe


def chosen(*recipes: Recipe, two_copies: bool = False, exclusive: bool = False) -> Choice:
    """A layer whose tiles are computed so."""
    form: Any = None
    tiles: Any = range(len(recipes))
    return Choice(Tiling(form, (), 0, 0, tiles, recipes.__getitem__), two_copies, 0, exclusive)
