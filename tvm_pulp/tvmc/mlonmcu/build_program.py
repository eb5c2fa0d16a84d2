"""The process behind the COMPILE stage: the program of an archive, and how large it is.

python -m tvm_pulp.tvmc.mlonmcu.build_program ARCHIVE PROGRAM SIZES.json [--toolchain NAME]
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tvm_pulp.errors import refuse_if
from tvm_pulp.output_files import write_output
from tvm_pulp.temporary import TemporaryFolder
from tvm_pulp.tvmc.argument import argument
from tvm_pulp.tvmc.mlonmcu.tool import run_stage

_ARGUMENTS = (*(argument(name, type=Path) for name in ("archive", "program", "sizes")), argument("--toolchain"))


def main(argv: Sequence[str] | None = None) -> int:
    """Build, copy and measure; exit status as `run_stage` says."""
    return run_stage(_ARGUMENTS, write_program, argv)


def write_program(args: argparse.Namespace) -> None:
    """The program and its sizes as files."""
    built, outside, arena = build(args.archive, args.toolchain)
    write_output(args.program, built.read_bytes(), executable=True)
    write_output(args.sizes, json.dumps(program_sizes(built, outside, arena)))


def build(archive: Path, toolchain: str | None) -> tuple[Path, int, int]:
    """The program, bytes that are loaded from outside of it, and bytes of memory that no section of it holds."""
    from tvm_pulp.codegen import mlf
    from tvm_pulp.codegen.formats import is_flat

    files = mlf.read(archive)
    metadata = mlf.metadata(files)
    if is_flat(metadata["tvm_pulp"]):
        refuse_if(
            toolchain is not None,
            f"toolchain={toolchain} has no effect on this machine: drop it; $CC chooses its compiler",
        )
        return _flat_program(files, metadata["tvm_pulp"]), 0, 0
    from tvm_pulp.sim.iss.device import L3_CONTENTS
    from tvm_pulp.sim.iss.runner import TOOLCHAINS
    from tvm_pulp.toolchain.project.build_archive import build_archive

    refuse_if(
        toolchain not in (None, *TOOLCHAINS), f"toolchain={toolchain} is unknown: choose from {', '.join(TOOLCHAINS)}"
    )
    # As `tvmc run` builds it, so that what is measured is this program.
    elf = build_archive(files, metadata, profile=True, toolchain=toolchain or TOOLCHAINS[0])  # type: ignore[arg-type]
    return elf, len(files.get(L3_CONTENTS, b"")), metadata["memory"].get("levels", {}).get("l1", 0)


def _flat_program(files: dict[str, bytes], facts: dict[str, Any]) -> Path:
    """The program of a CPU by itself, or the library of this machine."""
    from tvm_pulp import soc as socs
    from tvm_pulp.sim.host import host_flags, host_library
    from tvm_pulp.toolchain.cpu_compilers import build_cpu_elf

    cpu = socs.recorded(facts).cpu
    if cpu is not None and cpu.hal:
        return build_cpu_elf(files, cpu)
    with TemporaryFolder() as folder:
        return host_library(files, folder, host_flags(facts))


_WRITE, _ALLOCATED, _EXECUTABLE = 1, 2, 4


def program_sizes(elf: Path, outside: int = 0, arena: int = 0) -> dict[str, int]:
    """MLonMCU's metrics of bytes that must be stored (code, constants, initial values elsewhere) and of others.

    `outside`: contents of memories that the program file does not hold. `arena`: memory of its plan that no section
    holds.
    """
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
    zeroed += arena
    return {
        "Total ROM": read_only + code + outside,
        "Total RAM": data + zeroed,
        "ROM read-only": read_only,
        "ROM code": code,
        "ROM misc": outside,
        "RAM data": data,
        "RAM zero-init data": zeroed,
    }


if __name__ == "__main__":
    sys.exit(main())
