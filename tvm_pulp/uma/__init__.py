"""Accelerators as upstream's UMA has them: backends, their patterns and strategies, and how a tile is run."""

from tvm_pulp.uma.backend import UMABackend
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Call, CoreCost, Derived, Job, Kernel, Load, Local, Recipe, Store
from tvm_pulp.uma.region import Region
from tvm_pulp.uma.registry import parse_targets
from tvm_pulp.uma.strategy import Form, Refusal, Strategy, TileAxis

__all__ = [
    "Box",
    "Call",
    "CoreCost",
    "Derived",
    "Form",
    "Job",
    "Kernel",
    "Load",
    "Local",
    "Recipe",
    "Refusal",
    "Region",
    "Store",
    "Strategy",
    "TileAxis",
    "UMABackend",
    "parse_targets",
]
