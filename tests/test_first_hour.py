"""scripts/first_hour plays what a new user types."""

import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def script(repository: Path) -> dict[str, Any]:
    return runpy.run_path(str(repository / "scripts" / "first_hour"))


def test_both_forms_take_every_way(script: dict[str, Any]) -> None:
    """What a first hour consists of: a page that loses a step is noticed."""
    ways = (
        "python net.py",
        "tvmc quantize",
        "tvmc explain",
        "tvmc compile",
        "--html",
        "--dataset",
        "tvmc build",
        "tvmc sweep",
    )
    only_long = ("git clone", "bootstrap", "install_framework", "scripts/demo", "tvmc verify", "nbclient")
    short = " ".join(step.command for step in script["short_steps"]())
    whole = " ".join(step.command for step in script["long_steps"](Path("venv")))
    assert [way for way in ways if way not in short] == []
    assert [way for way in (*ways, *only_long) if way not in whole] == []


def test_an_empty_folder_is_wanted(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "something").touch()
    command = [sys.executable, str(repository / "scripts" / "first_hour"), "--short", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "is not empty: name one that is" in done.stderr


def test_a_step_that_fails_ends_it(script: dict[str, Any], tmp_path: Path) -> None:
    step = script["Step"]
    with pytest.raises(SystemExit, match="this failed"):
        script["play"](iter([step("false")]), tmp_path, {})
    with pytest.raises(SystemExit, match="missing"):
        script["play"](iter([step("true", ("net.tar",))]), tmp_path, {})


def test_downloads_do_not_count(script: dict[str, Any], tmp_path: Path) -> None:
    step = script["Step"]
    steps = [step("touch made", ("made",)), step("sleep 0.3", downloads=True)]
    counted, worked, loaded = script["play"](iter(steps), tmp_path, {"PATH": os.environ["PATH"]})
    assert loaded >= 0.3 and counted >= 0 and worked >= 0


@pytest.mark.slow
def test_the_short_form(repository: Path, tmp_path: Path) -> None:
    command = [sys.executable, str(repository / "scripts" / "first_hour"), "--short", str(tmp_path / "empty")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" s ") >= 9
