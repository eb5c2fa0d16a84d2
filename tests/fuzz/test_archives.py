"""Damaged and edited archives: each runs, or ends with a sentence; none hangs, crashes, grows or shows a traceback.

The slow set runs them under address and undefined-behaviour checks, whose build takes longest.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import onnx
import pytest

import tvm_pulp
from tests.codegen.small_networks import classifier
from tests.fuzz.conftest import REPOSITORY, environment_for

FEW, MANY = 6, 1000


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("archives")
    onnx.save(classifier(), folder / "classifier.onnx")
    app = tvm_pulp.compile(folder / "classifier.onnx", target="c", soc="siracusa", input_types={"image": "uint8"})
    app.save(folder / "classifier.tar")
    return folder / "classifier.tar"


def _check(environment: dict[str, str], archive: Path, count: int) -> None:
    command = [sys.executable, "-m", "tests.fuzz.archive_worker", str(archive), "0", str(count)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=600 + 20 * count, cwd=REPOSITORY, env=environment
    )
    assert done.returncode == 0, done.stderr[-3000:]
    answer = json.loads(done.stdout.splitlines()[-1])
    assert not answer["complaints"] and answer["grown_mib"] < 128, answer
    assert {"0", "2"} <= set(answer["statuses"]), answer


def test_archives(archive: Path) -> None:
    _check(dict(os.environ), archive, FEW)


@pytest.mark.slow
def test_many_archives(sanitized: dict[str, Path], archive: Path) -> None:
    _check(environment_for(sanitized["library"]), archive, MANY)
