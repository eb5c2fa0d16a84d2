"""The C driver on the host, its register accesses answered by a `Machine`."""

import ctypes
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.uma_backends.flat_machine import BACKENDS, DRIVER_INCLUDE, NEVER, Machine
from tvm_pulp.toolchain.build import build_host_library

PLATFORM = Path(__file__).resolve().parent / "driver_platform"

READ = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint32)
WRITE = ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint32)
CALL = ctypes.CFUNCTYPE(None)


class _Hooks(ctypes.Structure):
    _fields_ = (("read", READ), ("write", WRITE), ("sleep", CALL))


class HookedDriver:
    """A private copy of the driver's library, wired to a machine; `delay` gives the cycles before each access."""

    def __init__(self, machine: Machine, folder: Path, delay: Callable[[], int] = lambda: 3) -> None:
        driver = BACKENDS / "ita" / "driver"
        flags = ["-Wall", "-Wextra", "-Werror", "-fvisibility=default"]
        sources = [driver / "ita.c", PLATFORM / "driver_hooks.c"]
        includes = [driver, PLATFORM, DRIVER_INCLUDE]
        built = build_host_library(sources, includes, defines=("ITA_CUSTOM_PLATFORM",), extra_flags=flags)
        # A copy, because the driver's state is static and one file is loaded once.
        self.library = ctypes.CDLL(shutil.copy(built, folder / "driver.so"))
        self.machine, self.delay = machine, delay
        self.writes: list[tuple[int, int]] = []
        self._commands: list[ctypes.Array[ctypes.c_uint32]] = []
        self._failure: Exception | None = None
        self._hooks = _Hooks(READ(self._read), WRITE(self._write), CALL(self._sleep))
        ctypes.pointer(_Hooks.in_dll(self.library, "driver_hooks"))[0] = self._hooks
        self.library.ita_submit.restype = ctypes.c_uint32

    def _later(self, access: Callable[[], int | None]) -> int:
        """Do an access after a delay; C code cannot be left by an exception, so the first one waits."""
        if self._failure is not None:
            return 0
        try:
            self.machine.advance(self.machine.cycle + self.delay())
            return access() or 0
        except Exception as failure:
            self._failure = failure
            return 0

    def _read(self, offset: int) -> int:
        return self._later(lambda: self.machine.read(offset))

    def _write(self, offset: int, value: int) -> None:
        self.writes.append((offset, value))
        self._later(lambda: self.machine.write(offset, value))

    def _sleep(self) -> None:
        if self._failure is None and self.machine.next_event() != NEVER:
            self._later(lambda: self.machine.advance(max(self.machine.cycle, self.machine.next_event())))

    def _checked(self, result: int = 0) -> int:
        if self._failure is not None:
            raise self._failure
        return result

    def init(self) -> None:
        """Call ita_init and forget the accesses it made."""
        self.library.ita_init()
        self._checked()
        self.writes.clear()

    def submit(self, words: Sequence[int]) -> int:
        """Call ita_submit with the words of a command."""
        self._commands.append((ctypes.c_uint32 * len(words))(*words))
        return self._checked(self.library.ita_submit(self._commands[-1]))

    def is_done(self, ticket: int) -> bool:
        return bool(self._checked(self.library.ita_is_done(ctypes.c_uint32(ticket))))

    def wait_all(self) -> None:
        self.library.ita_wait_all()
        self._checked()
