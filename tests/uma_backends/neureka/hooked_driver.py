"""The C driver on the host, its register accesses answered by a `Machine`."""

import ctypes
import shutil
from collections.abc import Sequence
from pathlib import Path

from tests.uma_backends.flat_machine import BACKENDS, DRIVER_INCLUDE, Machine
from tvm_pulp.toolchain.build import build_host_library

PLATFORM = Path(__file__).resolve().parent / "driver_platform"
DEFINES = ("NEUREKA_CUSTOM_PLATFORM",)
POINTERS = ("weights", "input", "output", "scale", "shift", "bias")

READ = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint32)
WRITE = ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint32)
CALL = ctypes.CFUNCTYPE(None)


class _Hooks(ctypes.Structure):
    _fields_ = (("read", READ), ("write", WRITE), ("set_priority", WRITE), ("unmask_event", CALL), ("sleep", CALL))


class Shape(ctypes.Structure):
    """ArrayJob registers 6 to 23."""

    _fields_ = (("words", ctypes.c_uint32 * 18),)


class DriverJob(ctypes.Structure):
    """Pointers and shape of a job."""

    _fields_ = (*((name, ctypes.c_uint32) for name in POINTERS), ("shape", ctypes.POINTER(Shape)))

    @classmethod
    def of(cls, words: Sequence[int], shape: Shape | None = None) -> "DriverJob":
        """Split a register image; `shape` shares an existing one."""
        own = Shape((ctypes.c_uint32 * 18)(*words[6:])) if shape is None else shape
        return cls(*words[:6], ctypes.pointer(own))


class ChangedJob(ctypes.Structure):
    """struct neureka_changed_job."""

    _fields_ = (
        ("pointers", ctypes.c_uint32 * 6),
        ("count", ctypes.c_uint32),
        ("changes", ctypes.c_uint32 * 2 * 9),
    )

    @classmethod
    def of(cls, words: Sequence[int], changes: Sequence[tuple[int, int]]) -> "ChangedJob":
        """Six pointers, and words of the shape by number."""
        job = cls((ctypes.c_uint32 * 6)(*words), len(changes))
        for place, (number, value) in enumerate(changes):
            job.changes[place][0], job.changes[place][1] = 0x38 + 4 * number, value
        return job


class HookedDriver:
    """A private copy of the driver's library, wired to a machine; accesses are recorded."""

    def __init__(self, machine: Machine, folder: Path) -> None:
        driver = BACKENDS / "neureka" / "driver"
        sources = [*sorted(driver.glob("*.c")), PLATFORM / "driver_hooks.c"]
        flags = ["-Wall", "-Wextra", "-Werror", "-fvisibility=default"]
        built = build_host_library(sources, [driver, PLATFORM, DRIVER_INCLUDE], defines=DEFINES, extra_flags=flags)
        # A copy, because the driver's state is static and one file is loaded once.
        self.library = ctypes.CDLL(shutil.copy(built, folder / "driver.so"))
        self.machine = machine
        self.writes: list[tuple[int, int]] = []
        self.sleeps = 0
        self.priority: tuple[int, int] | None = None
        self.event_unmasked = False
        self._hooks = _Hooks(
            READ(self._read), WRITE(self._write), WRITE(self._set_priority), CALL(self._unmask), CALL(self._sleep)
        )
        ctypes.pointer(_Hooks.in_dll(self.library, "driver_hooks"))[0] = self._hooks
        for submit in (self.library.neureka_submit, self.library.neureka_submit_once):
            submit.restype, submit.argtypes = ctypes.c_uint32, [ctypes.POINTER(DriverJob)]
        changed = self.library.neureka_submit_changed
        changed.restype, changed.argtypes = ctypes.c_uint32, [ctypes.POINTER(ChangedJob)]

    def _read(self, offset: int) -> int:
        self.machine.cycle += 3
        return self.machine.read(offset)

    def _write(self, offset: int, value: int) -> None:
        self.machine.cycle += 3
        self.writes.append((offset, value))
        self.machine.write(offset, value)

    def _set_priority(self, accelerator_wins: int, max_stall: int) -> None:
        self.priority = (accelerator_wins, max_stall)

    def _unmask(self) -> None:
        self.event_unmasked = True

    def _sleep(self) -> None:
        self.sleeps += 1
        self.machine.advance(self.machine.next_event())

    def init(self) -> None:
        """Call neureka_init and forget the accesses it made."""
        self.library.neureka_init()
        self.writes.clear()

    def submit(self, job: DriverJob) -> int:
        """Call neureka_submit."""
        return int(self.library.neureka_submit(job))

    def is_done(self, ticket: int) -> bool:
        """Call neureka_is_done."""
        return bool(self.library.neureka_is_done(ctypes.c_uint32(ticket)))
