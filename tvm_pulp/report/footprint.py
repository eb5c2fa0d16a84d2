"""The needs of a compiled network: flash, RAM of every memory, work, expected time and energy."""

import math
from collections.abc import Mapping
from pathlib import Path
from struct import unpack_from
from typing import Any

import numpy as np

from tvm_pulp import soc as socs
from tvm_pulp.codegen.formats.report_json import Footprint as FootprintJson
from tvm_pulp.report.energy import energy_text
from tvm_pulp.soc.cpu import Cpu
from tvm_pulp.toolchain.cpu_compilers import build_cpu_elf

# Marks of a section in an ELF file, and the type of those whose bytes lie in it.
_IN_MEMORY, _EXECUTABLE, _STORED = 2, 4, 1
_NAMES = {"l1": "L1", "l2": "L2", "l3": "L3", "weights": "weight memory", "memory": "RAM"}


class ProgramFootprint(FootprintJson):
    """The figures as `report.json` has them, and in words."""

    def record(self) -> dict[str, Any]:
        """The figures as plain data."""
        return self.model_dump()

    def lines(self) -> list[str]:
        """The block that a person reads."""
        rows = [("constants", f"{self.constants:,} bytes")]
        if self.code is not None:
            stored = f"{self.code + self.constants:,} bytes: code {self.code:,}, constants {self.constants:,}"
            rows = [("flash", stored)]
        for level, used in self.ram.items():
            of = f" of {self.capacity[level]:,}" if level in self.capacity else ""
            stacks = f", stacks {self.stacks:,} of them" if level in ("l1", "memory") and self.stacks else ""
            if used:
                rows.append((_NAMES[level], f"{used:,} bytes{of}{stacks}"))
        rows.append(("one token" if self.token else "work", f"{self.macs:,} MAC" + self._time()))
        width = max(len(name) for name, _ in rows)
        return [f"{name:<{width}}  {text}" for name, text in rows]

    def _time(self) -> str:
        if self.cycles is None or self.milliseconds is None:
            return ""
        energy = "" if self.energy_uj is None else f", about {energy_text(self.energy_uj, self.energy_spread)}"
        return f", about {self.cycles:,} cycles: {self.milliseconds:.3g} ms at {self.clock_mhz:g} MHz{energy}"

    def __str__(self) -> str:
        return "\n".join(self.lines())


def footprint(metadata: Mapping[str, Any], files: Mapping[str, bytes], program: Path | None) -> ProgramFootprint:
    """The needs of an archive with this metadata; `program` is its ELF, where there is one."""
    facts, memory = metadata["tvm_pulp"], metadata["memory"]
    if program is None:
        # On the host all is in one memory, and constants belong to the program.
        used = {"memory": memory["arena_bytes"] + bytes_of_ends(facts)}
        constants = memory["constants_bytes"]
        return ProgramFootprint(code=None, constants=constants, ram=used, capacity={}, stacks=None, macs=facts["macs"])
    soc, sections = socs.recorded(facts), _sections(program)
    code = sum(size for _, size, _, executed in sections if executed)
    constants = sum(size for _, size, stored, executed in sections if stored and not executed)

    def used_in(place: Any) -> int:
        return sum(size for address, size, _, _ in sections if place.base <= address < place.base + place.size)

    known: dict[str, Any] = {"code": code, "macs": facts["macs"]}
    if (cpu := soc.cpu) is not None:
        # It runs from flash: code and constants are there, all else is in RAM.
        ram, sizes = {"memory": used_in(cpu.ram)}, {"memory": cpu.ram.size}
        return ProgramFootprint(**known, constants=constants, ram=ram, capacity=sizes, stacks=cpu.stack_bytes)
    places = {"l1": soc.memory.l1, "l2": soc.memory.l2, "weights": soc.memory.weight}
    used = dict.fromkeys(("l1", "l2", "l3", "weights"), 0) | {level: used_in(place) for level, place in places.items()}
    used["l1"] += memory["levels"]["l1"]
    used["l3"] += memory["levels"]["l3"]
    return ProgramFootprint(
        **known,
        constants=constants + len(files.get("parameters/l3.bin", b"")),
        ram=used,
        capacity={**{level: place.size for level, place in places.items()}, "l3": soc.memory.l3.size},
        stacks=soc.stacks * soc.software.stack_bytes + soc.software.runtime_l1_bytes,
        token="decoder" in facts,
        **facts["expected"],
    )


def bytes_of_ends(facts: Mapping[str, Any]) -> int:
    """Bytes of a network's inputs and outputs."""
    ends = (*facts["inputs"], *facts["outputs"])
    return sum(math.prod(end["shape"]) * np.dtype(end["dtype"]).itemsize for end in ends)


def flash_bytes(files: Mapping[str, bytes], cpu: Cpu) -> int:
    """Code and constants of the program of an archive, which is built for it."""
    return sum(size for _, size, stored, _ in _sections(build_cpu_elf(files, cpu)) if stored)


def _sections(program: Path) -> list[tuple[int, int, bool, bool]]:
    """Address, size, and whether it is stored in the file and executed, of all that is in memory at run time.

    Read here: every compilation asks, and a library that knows all of an ELF file takes longer to import than that.
    """
    image = program.read_bytes()
    is_64_bit = image[4] == 2
    table = int.from_bytes(image[40:48] if is_64_bit else image[32:36], "little")
    entry_bytes, count = unpack_from("<2H", image, 58 if is_64_bit else 46)
    found = []
    for place in range(table, table + count * entry_bytes, entry_bytes):
        _, kind, flags, address, _, size = unpack_from("<2I4Q" if is_64_bit else "<6I", image, place)
        if flags & _IN_MEMORY:
            found.append((address, size, kind == _STORED, bool(flags & _EXECUTABLE)))
    return found
