"""A model file, an archive or a target that is missing is said at once: nothing that takes seconds is loaded before."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

_PROGRAM = """
import sys
from tvm_pulp.tvmc.main import main
status = main(sys.argv[1:])
loaded = {"tvm", "onnx", "ortools", "numpy"} & set(sys.modules)
sys.exit(f"loaded {loaded}" if loaded else status)
"""


@pytest.mark.parametrize("verb", [("compile", "-o", "net.tar"), ("plan",), ("explain",), ("verify",)])
def test_it_is_said_before_anything_is_loaded(verb: tuple[str, ...], tmp_path: Path) -> None:
    command = [sys.executable, "-c", _PROGRAM, verb[0], "missing.onnx", *verb[1:]]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "model file 'missing.onnx' does not exist" in done.stderr and len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_so_is_a_misspelt_network_of_the_zoo(tmp_path: Path) -> None:
    """Its names are known without the compiler, though not without NumPy."""
    program = _PROGRAM.replace(', "numpy"', "")
    command = [sys.executable, "-c", program, "compile", "zoo:resnet9", "-o", "net.tar"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "the zoo has no network 'resnet9': did you mean resnet8" in done.stderr
    assert len(done.stderr.splitlines()) == 1 and not list(tmp_path.iterdir())


ARCHIVE_VERBS = [
    ("run",),
    ("run", "--dataset", "samples.npz"),
    ("build", "-o", "net.elf"),
    ("generate", "--prompt", "once"),
    ("crosscheck",),
]


@pytest.mark.parametrize("verb", ARCHIVE_VERBS)
def test_so_is_a_missing_archive(verb: tuple[str, ...], tmp_path: Path) -> None:
    command = [sys.executable, "-c", _PROGRAM, verb[0], "missing.tar", *verb[1:]]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "archive 'missing.tar' does not exist: `tvmc compile MODEL -o missing.tar`" in done.stderr
    assert len(done.stderr.splitlines()) == 1 and not list(tmp_path.iterdir())


@pytest.mark.slow
def test_it_takes_less_than_a_third_of_a_second(tmp_path: Path) -> None:
    """Of a processor, from the start of the process, the best of five: other work on the machine does not count."""

    def busy_seconds() -> float:
        before = os.times()
        done = subprocess.run([tvmc, "compile", "missing.onnx", "-o", "net.tar"], capture_output=True, cwd=tmp_path)
        after = os.times()
        assert done.returncode == 2
        return after.children_user + after.children_system - before.children_user - before.children_system

    tvmc = Path(sys.executable).with_name("tvmc")
    assert min(busy_seconds() for _ in range(5)) < 0.3


def test_an_unknown_target_is_said_before_anything_is_loaded(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _PROGRAM, "compile", "zoo:dscnn", "--target=uma-neurekka", "-o", "net.tar"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert "--target 'uma-neurekka' is unknown: did you mean 'uma-neureka'?" in done.stderr
