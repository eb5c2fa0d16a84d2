"""The debugger's side of the simulator: GDB's remote protocol over a socket of this machine."""

from tvm_pulp.sim.iss.gdb.server import GdbServer

__all__ = ["GdbServer"]
