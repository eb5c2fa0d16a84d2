"""The process behind the COMPILE stage: the program of an archive, and how large it is.

python -m tvm_pulp.tvmc.mlonmcu.build_program ARCHIVE PROGRAM SIZES.json [--toolchain NAME]
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.toolchain import ToolchainError
from tvm_pulp.tvmc.mlonmcu.program_sizes import program_sizes


def main(argv: Sequence[str] | None = None) -> int:
    """Build, copy and measure; exit status 2 for a user error."""
    parser = argparse.ArgumentParser()
    parser.add_argument("archive", type=Path)
    parser.add_argument("program", type=Path)
    parser.add_argument("sizes", type=Path)
    parser.add_argument("--toolchain")
    args = parser.parse_args(argv)
    try:
        built, outside, arena = build(args.archive, args.toolchain)
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except ToolchainError as error:
        sys.stderr.write(f"the archive's C does not build: {' '.join(str(error.reason).split())}\n")
        return 1
    shutil.copyfile(built, args.program)
    program_sizes(built, outside, arena).write(args.sizes)
    return 0


def build(archive: Path, toolchain: str | None) -> tuple[Path, int, int]:
    """The program, bytes that are loaded from outside of it, and bytes of memory that no section of it holds."""
    from tvm_pulp.codegen import mlf

    files = mlf.read(archive)
    metadata = mlf.metadata(files)
    if metadata["tvm_pulp"]["soc"] == "host":
        refuse_if(
            toolchain is not None,
            f"toolchain={toolchain} has no effect on this machine: drop it; $CC chooses its compiler",
        )
        from tvm_pulp.sim.host import host_library

        with tempfile.TemporaryDirectory(prefix="tvm_pulp_") as folder:
            return host_library(files, Path(folder)), 0, 0
    from tvm_pulp.sim.iss.device import L3_CONTENTS
    from tvm_pulp.sim.iss.runner import TOOLCHAINS
    from tvm_pulp.toolchain.project.build_archive import build_archive

    refuse_if(
        toolchain not in (None, *TOOLCHAINS), f"toolchain={toolchain} is unknown: choose from {', '.join(TOOLCHAINS)}"
    )
    # As `tvmc run` builds it, so that what is measured is this program.
    elf = build_archive(files, metadata, profile=True, toolchain=toolchain or TOOLCHAINS[0])  # type: ignore[arg-type]
    return elf, len(files.get(L3_CONTENTS, b"")), metadata["memory"].get("levels", {}).get("l1", 0)


if __name__ == "__main__":
    sys.exit(main())
