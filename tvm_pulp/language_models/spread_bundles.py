"""Bundles with many weights of the cores leave L2, where caches are, for the weight memory: the DMA reaches both."""

from typing import Any

from tvm_pulp.planning.tiling.plan import Plan

# Smaller ones are not worth a place of their own.
_LEAST_BYTES = 8192


def spread_bundles(plan: Plan, soc: Any) -> bool:
    """Move them, and tell whether there was room for all."""
    free = {level: size - plan.constants_in(level) for level, size in soc.software.weight_parts.items()}
    for bundle in plan.schedule.bundles:
        if bundle.bytes < _LEAST_BYTES:
            continue
        level = next((name for name, room in free.items() if room >= bundle.bytes), None)
        if level is None:
            return False
        free[level] -= bundle.bytes
        bundle.level = level
    return True
