"""How early the operands of every layer are fetched: as late as hides the transfer, so that L1 is not taken in vain.

Going backwards from the last layer: a transfer must end some cycles before its layer starts and, since the DMA works
in order, when the next layer's transfer has to start. It is issued beside the latest compute step that starts before
that.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from tvm_pulp.planning.tiling.schedule.choice import Choice
from tvm_pulp.planning.tiling.schedule.job_ends import expected_times
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.uma.contiguous import box_bytes
from tvm_pulp.uma.recipe import Load, Recipe


def prefetch_leads(choices: Sequence[Choice], slack: int, costs: CostModel, *, beside_jobs: bool = False) -> list[int]:
    """Steps by which each layer's constants and network inputs are fetched ahead, to be there `slack` cycles early.

    `beside_jobs`: cores are expected to work while jobs run, so that steps begin earlier than one after the other.
    """
    steps = [(index, *entry) for index, choice in enumerate(choices) for entry in choice.order]
    return leads_of_order(steps, choices, slack, costs, beside_jobs=beside_jobs)


def leads_of_order(
    steps: Sequence[tuple[int, int, Any]],
    choices: Sequence[Choice],
    slack: int,
    costs: CostModel,
    *,
    beside_jobs: bool = True,
) -> list[int]:
    """As `prefetch_leads`, by the order that steps (layer, tile, step) have: layers may mix."""
    recipes = [choice.recipes for choice in choices]
    overhead = costs.executor.step + costs.barrier_cycles
    starts, _ = expected_times(steps, recipes, overhead, beside_jobs=beside_jobs)
    first: dict[int, int] = {}
    for slot, (layer, *_) in enumerate(steps):
        first.setdefault(layer, slot)
    leads = [1] * len(choices)
    slower = 1.0 + costs.contention
    deadline = starts[-1]
    for index, slot in reversed(first.items()):
        fetched = _fetch_cycles(choices[index].recipes[0], costs)
        deadline = min(deadline, starts[slot] - slack) - int(slower * fetched)
        issued = bisect_right(starts, deadline) - 1
        leads[index] = max(1, slot - max(0, issued))
    return leads


def _fetch_cycles(recipe: Recipe, costs: CostModel) -> int:
    """Cycles of the transfers that do not depend on other layers."""
    loads = (step for step in recipe.steps if isinstance(step, Load))
    moved = sum(box_bytes(s.tensor, s.box) for s in loads if s.tensor.storage.kind in ("constant", "input"))
    # Constants travel together.
    return costs.transfer_cycles(moved, moved, outward=False)
