"""Accelerator models for other simulators: sources that build against an installation of the user's own."""

from tvm_pulp.sim.plugin.make import SIMULATORS, build, find_installation, write

__all__ = [
    "SIMULATORS",
    "build",
    "find_installation",
    "write",
]
