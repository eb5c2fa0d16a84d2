"""Accelerators as upstream's UMA has them: backends, their patterns and strategies, and how a tile is run."""

from tvm_pulp.uma.backend import Codegen, UMABackend
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.pattern import pattern_of
from tvm_pulp.uma.recipe import Call, Changes, CoreCost, Derived, Job, Kernel, Load, Local, Pointer, Recipe, Step, Store
from tvm_pulp.uma.region import Region
from tvm_pulp.uma.registry import has_kernel, parse_targets, step_call
from tvm_pulp.uma.strategy import EXACT, Form, Refusal, Refused, Rounding, Strategy, TileAxis, refuse_if

__all__ = [
    "EXACT",
    "Box",
    "Call",
    "Changes",
    "Codegen",
    "CoreCost",
    "Derived",
    "Form",
    "Job",
    "Kernel",
    "Load",
    "Local",
    "Pointer",
    "Recipe",
    "Refusal",
    "Refused",
    "Region",
    "Rounding",
    "Step",
    "Store",
    "Strategy",
    "TileAxis",
    "UMABackend",
    "has_kernel",
    "parse_targets",
    "pattern_of",
    "refuse_if",
    "step_call",
]
