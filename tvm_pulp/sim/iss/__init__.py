"""The embedded simulator: a C library driven through ctypes."""

from tvm_pulp.sim.iss.machine import Machine
from tvm_pulp.sim.iss.result import RunFault, RunResult

__all__ = ["Machine", "RunFault", "RunResult"]
