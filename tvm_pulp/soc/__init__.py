"""SoC descriptions as validated data: cores, memories, timing, DMA, engines, clock, energy."""

from tvm_pulp.soc.area import soc_area
from tvm_pulp.soc.catalog import DEFAULT, description_to_record, load, names, recorded
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.soc.description import Engine, Memory, Soc
from tvm_pulp.soc.kernel_sources import add_kernels
from tvm_pulp.soc.platform import Platform

__all__ = [
    "DEFAULT",
    "CostModel",
    "Engine",
    "Memory",
    "Platform",
    "Soc",
    "add_kernels",
    "description_to_record",
    "load",
    "names",
    "recorded",
    "soc_area",
]
