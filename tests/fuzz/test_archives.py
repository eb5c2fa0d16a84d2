"""Damaged and edited archives: each runs, or ends with a sentence; none hangs, crashes or shows a traceback."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import tvm_pulp
from tests.codegen.small_networks import classifier
from tests.fuzz.archive_mutations import write_mutant
from tvm_pulp.tvmc.main import main

FEW, MANY = 30, 1000


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("archives")
    onnx.save(classifier(), folder / "classifier.onnx")
    app = tvm_pulp.compile(folder / "classifier.onnx", target="c", soc="siracusa", input_types={"image": "uint8"})
    app.save(folder / "classifier.tar")
    return folder / "classifier.tar"


def _check(archive: Path, folder: Path, numbers: range, capsys: pytest.CaptureFixture[str]) -> None:
    statuses = set()
    for number in numbers:
        mutant = folder / "mutant.tar"
        write_mutant(np.random.default_rng([25, number]), archive, mutant)
        capsys.readouterr()
        status = main(["run", str(mutant), "--max-cycles", "1000000"])
        statuses.add(status)
        last = capsys.readouterr().err.splitlines()[-1]
        assert status in (0, 1, 2), (number, status, last)
        assert last.startswith("tvmc run: "), (number, last)
    assert 2 in statuses


def test_archives(archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _check(archive, tmp_path, range(FEW), capsys)


@pytest.mark.slow
def test_many_archives(archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _check(archive, tmp_path, range(FEW, MANY), capsys)
