"""Builds what tests of plug-ins load: the small model, and an adapter with a stand-in for its simulator."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tvm_pulp.sim.iss.library import build_shared_object

ROOT = Path(__file__).resolve().parents[3]
HERE = Path(__file__).parent
PLUGINS = ROOT / "c_runtime" / "plugins"
STRICT = ("-std=gnu++17", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared")


def model() -> Path:
    """The adder."""
    return build_shared_object("test-adder", [HERE / "model" / "adder.c"], [ROOT / "c_runtime" / "include"])


def adapter(target: Path, sources: list[Path], stand_in: Path, *defines: str) -> Path:
    """The adapter's C++ without a warning, linked with the stand-in."""
    folders = [ROOT / "c_runtime" / "include", PLUGINS / "common", stand_in]
    includes = [f"-I{folder}" for folder in folders]
    system = shutil.which("c++")
    compiler = [system] if system else [sys.executable, "-m", "ziglang", "c++", "-fno-sanitize=all"]
    command = [*compiler, *STRICT, *defines, *includes]
    done = subprocess.run(
        [*command, *map(str, sources), "-o", str(target), "-ldl"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.fail(done.stderr[-2000:])
    return target
