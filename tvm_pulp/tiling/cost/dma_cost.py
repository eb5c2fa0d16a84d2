"""Cycles of data movement by the cluster's DMA."""

from __future__ import annotations

import numpy as np

from tvm_pulp.uma.box import transfers
from tvm_pulp.uma.recipe import Load, Recipe, Store

# spec: start-up, bytes a cycle, one more cycle per burst towards L2.
START_UP = 16
BYTES_PER_CYCLE = 8
BURST = 256


def move_cycles(size: int, line: int, *, outward: bool) -> int:
    """Beats of one command: none spans two lines; a burst towards L2 costs one cycle more."""
    if not size:
        return 0
    beats, bursts = -(-line // BYTES_PER_CYCLE), -(-line // BURST) if outward else 0
    return size // line * (beats + bursts)


def transfer_cycles(size: int, line: int, *, outward: bool) -> int:
    """One command, from enqueueing to completion."""
    return START_UP + move_cycles(size, line, outward=outward)


def recipe_dma_cycles(recipe: Recipe) -> int:
    """All transfers of a recipe one after the other."""
    total = 0
    for step in recipe.steps:
        if isinstance(step, Load | Store):
            itemsize = np.dtype(step.tensor.spec.dtype).itemsize
            for t in transfers(step.box, step.tensor.spec.shape, itemsize):
                total += transfer_cycles(t.bytes, t.line, outward=isinstance(step, Store))
    return total
