"""`tvmc crosscheck`: figures side by side, and a verdict that can be no."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import tvm_pulp
from tests.tvmc.command_line import check_refused, tvmc
from tvm_pulp.sim import runner
from tvm_pulp.sim.iss.runner import IssRunner
from tvm_pulp.sim.runner import Capabilities, Runner, Statistics


class Slower(IssRunner):
    """The same simulator, two per cent slower."""

    capabilities: ClassVar[Capabilities] = Capabilities(cycles=True, layer_cycles=True)
    factor = 1.02

    def statistics(self) -> Statistics:
        known = super().statistics()
        assert known.inference_cycles is not None
        every = [round(self.factor * c) for c in known.inference_cycles]
        return Statistics(0.0, 0.0, every[-1], every[0], every, known.layer_cycles)

    def revision(self) -> str | None:
        return "slow 1"


class Same(Slower):
    """The same simulator."""

    factor = 1.0


class Wrong(Same):
    """Gives another answer."""

    def read_back(self) -> list[np.ndarray]:
        return [array ^ 1 for array in super().read_back()]


@pytest.fixture(autouse=True)
def _devices(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    known = runner.runner_class
    added: dict[str, type[Runner]] = {"slower": Slower, "same": Same, "wrong": Wrong}
    monkeypatch.setattr(runner, "runner_class", lambda name: added.get(name) or known(name))
    yield


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("archive") / "net.tar"
    tvm_pulp.compile("zoo:dscnn", target="uma-neureka").save(path)
    return path


def test_devices_that_agree(archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = tvmc(capsys, "crosscheck", archive, "--devices", "iss,same", "--inferences", "3")
    assert done.status == 0 and "iss agrees with same: outputs equal, cycles +0.00 %" in done.out
    assert "total" in done.out and "!" not in done.out


def test_cycles_that_do_not_agree(archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = tvmc(capsys, "crosscheck", archive, "--devices", "iss,slower")
    assert done.status == 1 and "-1.96 % from those of slower" in done.err and "-1.96 % !" in done.out
    done = tvmc(capsys, "crosscheck", archive, "--devices", "iss,slower", "--tolerance", "2")
    assert done.status == 0


def test_outputs_that_differ(archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = tvmc(capsys, "crosscheck", archive, "--devices", "iss,wrong")
    assert done.status == 1 and "outputs of iss differ from those of wrong" in done.err


def test_a_baseline_stands_for_the_simulator(archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Recorded where the other simulator is, checked where it is not; of another program it says nothing."""
    baseline = tmp_path / "baseline.json"
    assert tvmc(capsys, "crosscheck", archive, "--devices", "iss,same", "--record", baseline).status == 0
    (run,) = json.loads(baseline.read_text())["runs"]
    assert run["revision"] == "slow 1" and len(run["cycles"]) == 2 and run["soc"] == "siracusa"
    done = tvmc(capsys, "crosscheck", archive, "--devices", "iss", "--baseline", baseline)
    assert done.status == 0 and "iss agrees with same (recorded)" in done.out
    run["cycles"] = [round(1.1 * cycles) for cycles in run["cycles"]]
    baseline.write_text(json.dumps({"runs": [run]}))
    assert tvmc(capsys, "crosscheck", archive, "--devices", "iss", "--baseline", baseline).status == 1
    run["elf_sha256"] = "0" * 64
    baseline.write_text(json.dumps({"runs": [run]}))
    done = tvmc(capsys, "crosscheck", archive, "--devices", "iss", "--baseline", baseline)
    assert done.status == 2 and "has no figures of this program" in done.err
    # A second recording replaces the first.
    assert tvmc(capsys, "crosscheck", archive, "--devices", "iss,same", "--record", baseline).status == 0
    assert len(json.loads(baseline.read_text())["runs"]) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--devices", "iss"], ["--devices iss", "--baseline"]),
        (["--devices", "iss,iss"], ["different devices"]),
        (["--devices", "iss,same", "--inferences", "1"], ["--inferences 1", "2 to 16"]),
        (["--devices", "iss", "--baseline", "x.json", "--record", "y.json"], ["--record"]),
        (["--devices", "iss,same", "--device-option", "home=x"], ["--device-option home", "none"]),
        (["--devices", "iss,same", "--target", "uma-neureka"], ["--target", "compiled already"]),
        (["--devices", "iss,host"], ["host"]),
    ],
)
def test_options_that_make_no_sense(
    archive: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: list[str]
) -> None:
    done = tvmc(capsys, "crosscheck", archive, *arguments)
    if "host" in arguments[1]:
        assert done.status == 2 and "--soc=host" in done.err
    else:
        check_refused(done, words, "crosscheck")
