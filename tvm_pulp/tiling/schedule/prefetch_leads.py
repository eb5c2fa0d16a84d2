"""How early the operands of every layer are fetched: as late as hides the transfer, so that L1 is not taken in vain.

Going backwards from the last layer: a transfer must end some cycles before its layer starts and, since the DMA works
in order, when the next layer's transfer has to start. It is issued beside the latest compute step that starts before
that.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from tvm_pulp.tiling.cost.dma_cost import transfer_cycles
from tvm_pulp.tiling.cost.step_cost import step_cost
from tvm_pulp.tiling.schedule.tiled_layer import TiledLayer
from tvm_pulp.uma.recipe import Load, Recipe

# Synchronisation and reading the record of a step.
_STEP_CYCLES = 50


# Cores that work in L1 slow a transfer down by up to a half.
_SLOWER = 1.4


def prefetch_leads(tiled_layers: Sequence[TiledLayer], slack: int) -> list[int]:
    """Steps by which each layer's constants and network inputs are fetched ahead, to be there `slack` cycles early."""
    starts: list[int] = []
    first: list[int] = []
    now = 0
    for tiled in tiled_layers:
        first.append(len(starts))
        for _, step in tiled.order:
            starts.append(now)
            now += _STEP_CYCLES + step_cost(step).cycles
    leads = [0] * len(tiled_layers)
    deadline = now
    for index in reversed(range(len(tiled_layers))):
        slot = first[index]
        deadline = min(deadline, starts[slot] - slack) - int(_SLOWER * _fetch_cycles(tiled_layers[index].recipes[0]))
        issued = bisect_right(starts, deadline) - 1
        leads[index] = max(1, slot - max(0, issued))
    return leads


def _fetch_cycles(recipe: Recipe) -> int:
    """Cycles of the transfers that do not depend on other layers."""
    moved = [
        step.box.elements * step.tensor.spec.bytes // max(1, step.tensor.spec.elements)
        for step in recipe.steps
        if isinstance(step, Load) and step.tensor.storage.kind in ("constant", "input")
    ]
    # Constants travel together.
    return transfer_cycles(sum(moved), sum(moved), outward=False)
