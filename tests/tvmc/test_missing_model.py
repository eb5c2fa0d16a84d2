"""A model file that is not there, or a target, is said at once: nothing that takes seconds is loaded before."""

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


def test_an_unknown_target_is_said_before_anything_is_loaded(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _PROGRAM, "compile", "zoo:dscnn", "--target=uma-neurekka", "-o", "net.tar"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert "--target 'uma-neurekka' is unknown: did you mean 'uma-neureka'?" in done.stderr
