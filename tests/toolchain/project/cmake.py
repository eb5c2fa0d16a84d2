"""CMake on an unpacked archive."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tvm_pulp.toolchain.cache import cache_directory
from tvm_pulp.toolchain.zig import find_zig

NEEDED = "cmake is not on PATH (pip install cmake, or Debian: apt install cmake)"
GCC = "riscv64-unknown-elf-gcc"


def skip_without_cmake() -> None:
    if shutil.which("cmake") is None or (shutil.which("make") is None and shutil.which("ninja") is None):
        pytest.skip(NEEDED)


def environment() -> dict[str, str]:
    """Ours, with the commands of this Python first, and zig's caches below our own."""
    cache = cache_directory() / "zig"
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "ZIG_GLOBAL_CACHE_DIR": str(cache), "ZIG_LOCAL_CACHE_DIR": str(cache)}


def build(folder: Path, *options: str) -> str:
    """Configure and build in `folder/build`; returns what was printed, and fails on a warning."""
    make = environment()
    kind = ["-G", "Ninja"] if shutil.which("make") is None else []
    printed = ""
    for command in (["cmake", "-B", "build", *kind, *options], ["cmake", "--build", "build"]):
        done = subprocess.run(command, cwd=folder, env=make, capture_output=True, text=True, check=False)
        printed += done.stdout + done.stderr
        assert done.returncode == 0, printed
    assert "warning" not in printed.lower(), printed
    return printed


def toolchain(name: str) -> list[str]:
    """Options for a toolchain file of an archive."""
    if name == "gcc" and shutil.which(GCC) is None:
        pytest.skip(f"{GCC} is not on PATH (Debian: apt install gcc-riscv64-unknown-elf)")
    return [f"-DCMAKE_TOOLCHAIN_FILE=cmake/{name}.cmake", *([f"-DZIG={find_zig()}"] if name == "zig" else [])]
