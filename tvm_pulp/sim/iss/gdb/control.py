"""Stop, step and inspect a loaded machine; the run itself goes on as if nobody looked."""

import ctypes
import struct
from dataclasses import dataclass

from tvm_pulp.errors import UserError
from tvm_pulp.sim.iss.library import Fault, Stop, library
from tvm_pulp.sim.iss.machine import Machine

WRITE, READ = 1, 2
ENDED, FAULTED, STOPPED = range(3)
# enum stop_reason of c_runtime/iss/observer.h
REASONS = ("", "step", "breakpoint", "write", "read", "interrupt")
_STATES = ("not started", "running", "asleep", "waiting for a device")


@dataclass(frozen=True)
class StopReason:
    """Why a run stopped: one of REASONS, or a fault."""

    core: int
    reason: str
    address: int


class Control:
    """A debugger's hand on a machine that was created with `observe`."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._breaks: set[int] = set()

    @property
    def cores(self) -> int:
        """Cluster cores and the controller, where there is one; it comes last."""
        return self._machine.soc.all_cores

    def ask(self, function: str, *arguments: int) -> int:
        """The answer of the simulator's function iss_`function` of iss.h; "run" gives ENDED, FAULTED or STOPPED."""
        return int(getattr(library(), f"iss_{function}")(self._machine.handle, *arguments) or 0)

    def state(self, core: int) -> str:
        """The state of a core in words, and its time in cluster cycles."""
        return f"{_STATES[self.ask('core_state', core)]}, cycle {self.ask('core_cycle', core)}"

    def read(self, address: int, size: int) -> bytes | None:
        """Memory, or of a register that was last written to it; None where nothing is known."""
        try:
            return self._machine.read(address, size)
        except UserError:
            return self._registers(address, size)

    def write(self, address: int, data: bytes) -> bool:
        """Change memory; registers cannot be written from outside."""
        try:
            self._machine.write(address, data)
        except UserError:
            return False
        return True

    def _registers(self, address: int, size: int) -> bytes | None:
        if not 0 < size <= 4096 or not 0 <= address < 1 << 32:
            return None
        words, value = b"", ctypes.c_uint32()
        first = address & ~3
        for at in range(first, address + size, 4):
            known = not library().iss_last_written(self._machine.handle, at, ctypes.byref(value))
            words += struct.pack("<I", value.value if known else 0)
        is_register = any(base <= address < base + length for base, length in self.register_spaces())
        return words[address - first : address - first + size] if is_register else None

    def register_spaces(self) -> list[tuple[int, int]]:
        """Base and bytes of the spaces of peripheral registers."""
        spaces: list[tuple[int, int]] = []
        base, size = ctypes.c_uint32(), ctypes.c_uint32()
        found = (ctypes.byref(base), ctypes.byref(size))
        while not library().iss_register_space(self._machine.handle, len(spaces), *found):
            spaces.append((base.value, size.value))
        return spaces

    def set_breaks(self, wanted: set[int]) -> None:
        """Exactly these addresses stop whoever comes to execute them."""
        for address in self._breaks ^ wanted:
            self.ask("set_break", address, address in wanted)
        self._breaks = set(wanted)

    def is_code(self, address: int) -> bool:
        """Tell if a breakpoint can stand there."""
        if self.ask("set_break", address & 0xFFFFFFFF, 1):
            return False
        self.ask("set_break", address & 0xFFFFFFFF, address in self._breaks)
        return True

    def stopped(self, status: int) -> StopReason:
        """Why the run is not going on."""
        if status == FAULTED:
            fault = Fault()
            library().iss_fault(self._machine.handle, ctypes.byref(fault))
            return StopReason(max(fault.core, 0), "fault", fault.address)
        stop = Stop()
        library().iss_stop(self._machine.handle, ctypes.byref(stop))
        return StopReason(stop.core, REASONS[stop.reason], stop.address)
