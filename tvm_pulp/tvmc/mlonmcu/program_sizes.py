"""How much memory a program takes, by what its sections are: their names are those of a SoC's memories."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

_WRITE, _ALLOCATED, _EXECUTABLE = 1, 2, 4


@dataclass(frozen=True)
class ProgramSizes:
    """Bytes that must be stored (code, constants, initial values elsewhere) and bytes that change at run time."""

    code: int
    read_only: int
    # Contents of memories that the program file does not hold.
    outside: int
    data: int
    # Not in the file: cleared or undefined at the start.
    zeroed: int

    def write(self, path: Path) -> None:
        """Write to a file."""
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @staticmethod
    def read(path: Path) -> "ProgramSizes":
        """Read what `write` wrote."""
        return ProgramSizes(**json.loads(path.read_text(encoding="utf-8")))


def program_sizes(elf: Path, outside: int = 0, arena: int = 0) -> ProgramSizes:
    """Sizes of a program; `arena` is memory of its plan that no section holds."""
    from elftools.elf.elffile import ELFFile

    code = read_only = data = zeroed = 0
    with elf.open("rb") as stream:
        for section in ELFFile(stream).iter_sections():
            flags, size = section["sh_flags"], section["sh_size"]
            if not flags & _ALLOCATED:
                continue
            if section["sh_type"] == "SHT_NOBITS":
                zeroed += size
            elif flags & _EXECUTABLE:
                code += size
            elif flags & _WRITE and section.name.startswith((".data", ".sdata")):
                data += size
            else:
                # Weights in memories of their own are constants, whatever their sections are marked as.
                read_only += size
    return ProgramSizes(code, read_only, outside, data, zeroed + arena)
