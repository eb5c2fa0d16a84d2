"""Cycles of all data movement of a recipe."""

import numpy as np

from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.uma.box import transfers
from tvm_pulp.uma.recipe import Load, Recipe, Store


def recipe_dma_cycles(recipe: Recipe, costs: CostModel) -> int:
    """All transfers of a recipe one after the other."""
    total = 0
    for step in recipe.steps:
        if isinstance(step, Load | Store):
            itemsize = np.dtype(step.tensor.spec.dtype).itemsize
            for t in transfers(step.box, step.tensor.spec.shape, itemsize):
                total += costs.transfer_cycles(t.bytes, t.line, outward=isinstance(step, Store))
    return total
