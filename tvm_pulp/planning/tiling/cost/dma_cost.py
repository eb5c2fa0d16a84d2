"""Cycles of data movement."""

from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.uma.recipe import Load, Store


def dma_cycles(step: Load | Store, costs: CostModel) -> int:
    """All transfers of a load or store one after the other."""
    moved = step.transfers
    return sum(costs.transfer_cycles(t.bytes, t.line, outward=isinstance(step, Store)) for t in moved)
