"""Build the C model (and the flat memory system) with a host compiler."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tvm_pulp.errors import UserError

FOLDER = Path(__file__).resolve().parent
MODEL_SOURCES = tuple(sorted((FOLDER.parent / "model").glob("*.c")))
FLAT_SYSTEM_SOURCES = (FOLDER / "flat_system.c",)
INCLUDE = FOLDER.parents[2] / "c_runtime" / "include"
WARNINGS = ("-std=c11", "-Wall", "-Wextra", "-Werror")


def host_compiler() -> list[str]:
    """Return the command of a C compiler for this machine: $CC, cc, or the one in the ziglang wheel."""
    if os.environ.get("CC"):
        return os.environ["CC"].split()
    if shutil.which("cc"):
        return ["cc"]
    if importlib.util.find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "cc"]
    raise UserError("No C compiler found for the NEUREKA model, install ziglang or set CC.")


def build_shared_object(sources: Sequence[Path], output: Path, flags: Sequence[str] = ("-O3",)) -> Path:
    """Compile and link C files into one shared object."""
    command = [*host_compiler(), *WARNINGS, *flags, "-fPIC", "-shared", f"-I{INCLUDE}", "-o", str(output)]
    result = subprocess.run([*command, *map(str, sources)], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise UserError(f"Building {output.name} failed: {result.stderr.strip()}")
    return output
