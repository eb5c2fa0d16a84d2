"""Accelerator models for other simulators: sources that build against an installation of the user's own."""

from tvm_pulp.sim.plugin.build import build, find_installation
from tvm_pulp.sim.plugin.write import SIMULATORS, write

__all__ = [
    "SIMULATORS",
    "build",
    "find_installation",
    "write",
]
