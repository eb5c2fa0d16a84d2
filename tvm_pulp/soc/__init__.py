"""SoC descriptions as validated data: cores, memories, timing, DMA, engines, clock, energy."""

from __future__ import annotations

from tvm_pulp.soc.catalog import description_to_record, load, names, recorded
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.soc.description import Engine, Memory, Soc

__all__ = ["CostModel", "Engine", "Memory", "Soc", "description_to_record", "load", "names", "recorded"]
