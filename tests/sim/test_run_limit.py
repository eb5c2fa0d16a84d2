"""A run that takes longer than its limit: a sentence, not a traceback."""

from pathlib import Path

import pytest

import tvm_pulp
from tvm_pulp.errors import UserError
from tvm_pulp.tvmc.main import main


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("archive") / "model.tar"
    tvm_pulp.compile("zoo:autoencoder", "c", soc="siracusa").save(path)
    return path


def test_sentence(archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(archive), "--max-cycles", "1000"]) == 2
    message = capsys.readouterr().err.splitlines()[-1]
    assert message.startswith("tvmc run: the run exceeded its limit of 1000 cycles")
    assert message.endswith("check --inputs, or give it more with --max-cycles")


def test_enough_is_enough(archive: Path) -> None:
    app = tvm_pulp.App.load(archive)
    assert app.run(max_cycles=50_000_000).report["cycles"] == app.run().report["cycles"]


def test_no_effect_on_the_host(archive: Path) -> None:
    app = tvm_pulp.compile("zoo:autoencoder")
    with pytest.raises(UserError, match="--max-cycles has no effect on --device host"):
        app.run(max_cycles=1000)


def test_impossible_limit(archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(archive), "--max-cycles", "0"]) == 2
    assert capsys.readouterr().err == "tvmc run: --max-cycles 0: must be at least 1\n"
