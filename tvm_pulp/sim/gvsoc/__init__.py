"""GVSoC, an installation of the user's own, as a device."""

from tvm_pulp.sim.gvsoc.runner import GvsocRunner

__all__ = [
    "GvsocRunner",
]
