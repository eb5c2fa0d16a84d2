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
class Stopped:
    """Why a run stopped: one of REASONS, or the fault's sentence."""

    core: int
    reason: str
    address: int
    fault: str | None = None


class Control:
    """A debugger's hand on a machine that was created with `observe`."""

    def __init__(self, machine: Machine) -> None:
        self._machine, self._library = machine, library()
        self._breaks: set[int] = set()

    @property
    def cores(self) -> int:
        """Cluster cores and the controller, where there is one; it comes last."""
        return self._machine.soc.all_cores

    def state(self, core: int) -> str:
        """The state of a core in words."""
        return _STATES[self._library.iss_core_state(self._machine.handle, core)]

    def cycle(self, core: int) -> int:
        """Its time in cluster cycles."""
        return int(self._library.iss_core_cycle(self._machine.handle, core))

    def register(self, core: int, number: int) -> int:
        """A register by its number in the simulator's interface."""
        return int(self._library.iss_get_register(self._machine.handle, core, number))

    def set_register(self, core: int, number: int, value: int) -> bool:
        """False where there is no such register, or nothing to execute at a program counter."""
        return not self._library.iss_set_register(self._machine.handle, core, number, value & 0xFFFFFFFF)

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
            known = not self._library.iss_last_written(self._machine.handle, at, ctypes.byref(value))
            words += struct.pack("<I", value.value if known else 0)
        return words[address - first : address - first + size] if self._is_register(address) else None

    def _is_register(self, address: int) -> bool:
        return any(base <= address < base + size for base, size in self.register_spaces())

    def register_spaces(self) -> list[tuple[int, int]]:
        """Base and bytes of the spaces of peripheral registers."""
        spaces: list[tuple[int, int]] = []
        base, size = ctypes.c_uint32(), ctypes.c_uint32()
        found = (ctypes.byref(base), ctypes.byref(size))
        while not self._library.iss_register_space(self._machine.handle, len(spaces), *found):
            spaces.append((base.value, size.value))
        return spaces

    def set_breaks(self, wanted: set[int]) -> None:
        """Exactly these addresses stop whoever comes to execute them."""
        for address in self._breaks - wanted:
            self._library.iss_set_break(self._machine.handle, address, 0)
        for address in wanted - self._breaks:
            self._library.iss_set_break(self._machine.handle, address, 1)
        self._breaks = set(wanted)

    def is_code(self, address: int) -> bool:
        """Tell if a breakpoint can stand there."""
        if self._library.iss_set_break(self._machine.handle, address & 0xFFFFFFFF, 1):
            return False
        self._library.iss_set_break(self._machine.handle, address & 0xFFFFFFFF, address in self._breaks)
        return True

    def watch(self, address: int, size: int, kinds: int) -> bool:
        """Stop after anybody's access: a core's, the DMA's, an accelerator's."""
        return not self._library.iss_watch(self._machine.handle, address & 0xFFFFFFFF, size, kinds)

    def unwatch(self, address: int, size: int, kinds: int) -> bool:
        """Take one such watch away."""
        return not self._library.iss_unwatch(self._machine.handle, address & 0xFFFFFFFF, size, kinds)

    def step(self, core: int) -> None:
        """The next run ends after one instruction of a core."""
        self._library.iss_step(self._machine.handle, core)

    def interrupt(self) -> None:
        """End the run that is under way, from another thread."""
        self._library.iss_interrupt(self._machine.handle)

    def run(self, max_cycles: int) -> int:
        """ENDED, FAULTED or STOPPED."""
        return int(self._library.iss_run(self._machine.handle, max_cycles))

    def stopped(self, status: int) -> Stopped:
        """Why the run is not going on."""
        if status == FAULTED:
            fault = Fault()
            self._library.iss_fault(self._machine.handle, ctypes.byref(fault))
            text = fault.text.decode(errors="replace")
            return Stopped(max(fault.core, 0), "fault", fault.address, text)
        stop = Stop()
        self._library.iss_stop(self._machine.handle, ctypes.byref(stop))
        return Stopped(stop.core, REASONS[stop.reason], stop.address)

    @property
    def exit_code(self) -> int:
        """The code that the program reported at its end."""
        return int(self._library.iss_exit_code(self._machine.handle))
