"""Sizes of this process, and machines of the simulator that are alive in it."""

import gc
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tvm_pulp.sim.iss import Machine


def resident_megabytes() -> float:
    """Memory of this process."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def mapped_libraries(name: str) -> int:
    """Mappings of files of that name."""
    return sum(name in line for line in Path("/proc/self/maps").read_text().splitlines())


@contextmanager
def machines_made(patch: pytest.MonkeyPatch) -> Iterator["weakref.WeakSet[Machine]"]:
    """Machines that are made inside and alive, while nothing looks for objects that hold each other."""
    alive: weakref.WeakSet[Machine] = weakref.WeakSet()
    made = Machine.__init__

    def note(self: Machine, *args: object, **settings: object) -> None:
        alive.add(self)
        made(self, *args, **settings)  # type: ignore[arg-type]

    patch.setattr(Machine, "__init__", note)
    was = gc.isenabled()
    gc.disable()
    try:
        yield alive
    finally:
        if was:
            gc.enable()
