"""ETISS, an installation of the user's own, as a device."""

from tvm_pulp.sim.etiss.runner import EtissRunner

__all__ = [
    "EtissRunner",
]
