"""A wheel built from the tree works in an empty environment, away from the repository."""

import io
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

PROGRAM = """
import pathlib, sys
import numpy as np
import tvm_pulp
assert pathlib.Path(sys.argv[1]) not in pathlib.Path(tvm_pulp.__file__).parents, tvm_pulp.__file__
app = tvm_pulp.compile("zoo:autoencoder", "uma-neureka", planner="greedy")
a, b = (app.run().outputs for _ in range(2))
assert all(np.array_equal(a[name], b[name]) for name in a) and len(a) == 1
print("ran", list(a))
"""


def run(command: list[str | Path], folder: Path) -> str:
    """Run outside the repository, with nothing of it on Python's path."""
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment["TVM_PULP_CACHE"] = str(folder / "cache")
    # Beside the shell, no program of the system: no compiler.
    (folder / "bin").mkdir(exist_ok=True)
    for name in ("sh", "env", "uname"):
        found = shutil.which(name)
        if found is not None and not (folder / "bin" / name).exists():
            (folder / "bin" / name).symlink_to(found)
    environment |= {"PATH": str(folder / "bin"), "CC": ""}
    finished = subprocess.run(
        [str(c) for c in command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert finished.returncode == 0, f"{command}\n{finished.stdout}\n{finished.stderr}"
    return finished.stdout


def build(repository: Path, folder: Path) -> Path:
    """The wheel of a copy of the tree, so that the build leaves nothing in it."""
    tree = folder / "tree"
    ignore = shutil.ignore_patterns("__pycache__", "*.so", "*.o", ".*", "build", "*.egg-info")
    shutil.copytree(repository, tree, ignore=ignore)
    run([sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-q", "-w", folder, tree], folder)
    shutil.rmtree(tree)
    (wheel,) = folder.glob("tvm_pulp-*.whl")
    return wheel


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="wheels for other machines are built on Linux")
@pytest.mark.parametrize(("architecture", "machine"), [("x86_64", "EM_X86_64"), ("aarch64", "EM_AARCH64")])
def test_wheel_of_a_named_architecture(
    architecture: str, machine: str, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Simulator and engines are built for it, whatever this machine is."""
    monkeypatch.setenv("TVM_PULP_WHEEL_ARCHITECTURE", architecture)
    wheel = build(repository, tmp_path)
    assert wheel.stem.endswith(f"_{architecture}")
    with zipfile.ZipFile(wheel) as held:
        libraries = [name for name in held.namelist() if name.endswith(".so")]
        machines = {ELFFile(io.BytesIO(held.read(name)))["e_machine"] for name in libraries}
    assert "tvm_pulp/_iss.abi3.so" in libraries and machines == {machine}


@pytest.mark.slow
def test_wheel_compiles_and_runs_a_network(repository: Path, tmp_path: Path) -> None:
    wheel = build(repository, tmp_path)
    python = tmp_path / "venv" / "bin" / "python"
    run([sys.executable, "-m", "venv", tmp_path / "venv"], tmp_path)
    run([python, "-m", "pip", "install", "-q", "--no-input", wheel], tmp_path)
    assert "ran ['" in run([python, "-c", PROGRAM, repository], tmp_path)
    # The command line, on the simulated chip: its C runtime, linker script and engine travel in the wheel.
    tvmc = python.with_name("tvmc")
    run([tvmc, "compile", "zoo:dscnn", "--target=uma-neureka", "-o", "net.tar"], tmp_path)
    assert "cycles" in run([tvmc, "run", "net.tar", "--report", "report.json"], tmp_path)
    # Nothing was built for this machine, and no compiler of the system was there to do it.
    assert "iss                    installed" in run([tvmc, "doctor"], tmp_path)
    assert list((tmp_path / "cache").glob("*/*.so")) == []
    assert (tmp_path / "report.json").is_file()
