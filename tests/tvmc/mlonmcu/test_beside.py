"""MLonMCU's own commands and other backends work beside ours, ours with the plain `mlonmcu` too."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tvmc.mlonmcu.small_model import write_dense
from tests.tvmc.mlonmcu.wrapper import Environment


@pytest.mark.slow
def test_a_backend_of_mlonmcu_builds_in_the_same_session(environment: Environment, tmp_path: Path) -> None:
    """It reads what a definition file beside the model says."""
    write_dense(tmp_path / "dense.tflite")
    (tmp_path / "definition.yml").write_text("backends:\n  tflmi:\n    ops: [FULLY_CONNECTED]\n")
    (tmp_path / "tensorflow").mkdir()
    done = environment.run(
        *("flow", "build", str(tmp_path / "dense.tflite"), "-b", "tflmi", "-b", "tvmpulp_c", "-l", "both"),
        *("-c", f"tf.src_dir={tmp_path / 'tensorflow'}"),
    )
    assert done.returncode == 0, done.stdout
    rows = environment.report("both")
    assert [(row["Framework"], row["Backend"]) for row in rows] == [("tflm", "tflmi"), ("tvmpulp", "tvmpulp_c")]
    assert rows[1]["Total MACs"] in ("32", "32.0") and "Failing" not in rows[0]
    assert environment.file(0, "model.cc").is_file() and environment.file(1, "default.tar").is_file()


def test_targets_are_listed(environment: Environment) -> None:
    listed = environment.run("flow", "--list-targets")
    assert listed.returncode == 0 and "tvmpulp_siracusa [tvmpulp_platform]" in listed.stdout


@pytest.mark.slow
def test_commands_of_mlonmcu_are_forwarded(environment: Environment) -> None:
    models = environment.run("models")
    assert models.returncode == 0 and str(environment.home / "models") in models.stdout
    version = environment.run("--version")
    assert version.returncode == 0 and version.stdout.startswith("mlonmcu ")
    wrong = environment.run("flow", "run", "vit_block", "-b", "nothing")
    assert wrong.returncode == 2 and "invalid choice: 'nothing'" in wrong.stderr
    assert "usage: tvmpulp-mlonmcu" in environment.run().stdout


@pytest.mark.slow
def test_the_plain_command_loads_the_plug_in(environment: Environment, tmp_path: Path) -> None:
    """Without the wrapper, extensions of the environment are loaded after the parser is made: defaults still work."""
    write_dense(tmp_path / "dense.tflite")
    assert environment.run("flow", "--list-targets").returncode == 0
    command = [sys.executable, "-P", "-m", "mlonmcu.cli.main", "flow", "run", str(tmp_path / "dense.tflite")]
    command += ["-t", "tvmpulp_host", "-l", "plain"]
    variables = {**os.environ, "MLONMCU_HOME": str(environment.home), "XDG_CONFIG_HOME": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=variables, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (row,) = environment.report("plain")
    assert row["Backend"] == "tvmpulp_c" and float(row["Runtime [s]"]) > 0
