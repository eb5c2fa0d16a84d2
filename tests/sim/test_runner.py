"""Devices behind `--device`: found by entry point, reports with nulls where one knows little, answers compared."""

import json
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import tvm_pulp
from tvm_pulp.api import App
from tvm_pulp.errors import UserError, WrongAnswer
from tvm_pulp.sim.iss.runner import IssRunner
from tvm_pulp.sim.runner import GROUP, Capabilities, Runner, Statistics, names, runner_class
from tvm_pulp.tvmc.main import main


class OutputsOnly(Runner):
    """A simulator that tells nothing but outputs."""

    def build(self, files: dict[str, bytes], metadata: dict[str, Any], toolchain: str | None = None) -> None:
        self._iss = IssRunner()
        self._iss.build(files, metadata, toolchain)

    def load(self, inputs: Sequence[np.ndarray], *, trace: bool = False) -> None:
        self._iss.load(inputs)

    def run(self, inferences: int) -> None:
        self._inferences = inferences
        self._iss.run(inferences)

    def read_back(self) -> list[np.ndarray]:
        return self._iss.read_back()

    def statistics(self) -> Statistics:
        return Statistics(build_seconds=0.0, run_seconds=0.0)


class CyclesOnly(OutputsOnly):
    """A simulator that counts cycles and nothing else."""

    capabilities: ClassVar[Capabilities] = Capabilities(cycles=True)

    def statistics(self) -> Statistics:
        return Statistics(0.0, 0.0, cycles=1000, cold_cycles=2000)


class Guessing(OutputsOnly):
    """Gives cycles that it does not vouch for."""

    def statistics(self) -> Statistics:
        return Statistics(0.0, 0.0, cycles=1000, cold_cycles=2000)


class Promising(OutputsOnly):
    """Says that it counts cycles, and does not."""

    capabilities: ClassVar[Capabilities] = Capabilities(cycles=True)


class Forgetful(OutputsOnly):
    """Its first inference has two wrong values, as if something had not been there yet."""

    def read_back(self) -> list[np.ndarray]:
        outputs = super().read_back()
        if self._inferences == 1:
            outputs[-1].reshape(-1)[:2] += 1
        return outputs


NOT_A_RUNNER = object()


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package with these runners."""
    facts = tmp_path / "other_runners-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: other-runners\nVersion: 1.0\n")
    runners = {
        "outputs": "OutputsOnly",
        "cycles": "CyclesOnly",
        "guessing": "Guessing",
        "promising": "Promising",
        "forgetful": "Forgetful",
        "broken": "NOT_A_RUNNER",
    }
    lines = [f"{name} = {__name__}:{value}" for name, value in runners.items()]
    (facts / "entry_points.txt").write_text("\n".join([f"[{GROUP}]", *lines, f"absent = {__name__}.absent:Runner", ""]))
    monkeypatch.syspath_prepend(tmp_path)
    runner_class.cache_clear()
    yield
    runner_class.cache_clear()


@cache
def app() -> App:
    return tvm_pulp.compile("zoo:autoencoder", target="c", soc="siracusa", planner="greedy")


@cache
def archive(folder: Path) -> Path:
    app().save(folder / "a.tar")
    return folder / "a.tar"


def test_host_and_iss_are_runners_like_any_other() -> None:
    assert {"host", "iss", "outputs", "cycles"} <= set(names())
    assert runner_class("iss") is IssRunner


def nulls(report: dict[str, Any]) -> set[str]:
    return {key for key, value in report.items() if value is None}


MEASURED = {"cycles", "cold_cycles", "instructions", "macs_per_cycle", "dma", "energy_uj", "energy_spread",
            "energy_model", "code_bytes"}  # fmt: skip
MEASURED |= {"causes", "device_revision", "milliseconds"}


def test_a_runner_that_knows_outputs_only_leaves_nulls() -> None:
    result, wanted = app().run(device="outputs"), app().run()
    for name, array in wanted.outputs.items():
        np.testing.assert_array_equal(result.outputs[name], array)
    assert nulls(result.report) == MEASURED and not nulls(wanted.report)
    assert set(result.report) == set(wanted.report)
    for layer in result.report["layers"]:
        assert nulls(layer) == {
            "bound_share", "busy_cycles", "causes", "cycles", "dma_busy_cycles", "dma_stall_cycles", "macs_per_cycle"
        }  # fmt: skip
    assert result.report["host"]["mips"] is None


def test_a_runner_that_counts_cycles_has_them_in_the_report() -> None:
    report = app().run(device="cycles").report
    assert nulls(report) == MEASURED - {"cycles", "cold_cycles", "macs_per_cycle", "milliseconds"}
    assert report["macs_per_cycle"] == report["macs"] / 1000


def test_figures_that_were_not_declared_are_not_reported() -> None:
    assert nulls(app().run(device="guessing").report) == MEASURED


def test_a_figure_that_was_declared_must_be_there() -> None:
    with pytest.raises(RuntimeError, match="Promising declares 'cycles' and does not give 'cycles'"):
        app().run(device="promising")


def test_the_command_line_takes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "r.json"
    assert main(["run", str(archive(tmp_path)), "--device=outputs", "--report", str(report)]) == 0
    assert json.loads(report.read_text())["cycles"] is None
    assert "output reconstruction" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("option", "reason"),
    [
        ("--trace=t.json", "--trace has no effect on --device outputs, which has no trace: drop it"),
        ("--toolchain=gcc", "--toolchain gcc has no effect on --device outputs"),
    ],
)
def test_what_it_cannot_do_is_refused(
    option: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", str(archive(tmp_path)), "--device=outputs", option]) == 2
    assert reason in capsys.readouterr().err
    assert not (tmp_path / "t.json").exists()


def test_a_first_inference_that_differs_is_an_error_that_names_the_tensor(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(
        WrongAnswer, match="output 'reconstruction' is not the same after one inference and after two, in 2"
    ):
        app().run(device="forgetful")
    assert main(["run", str(archive(tmp_path)), "--device=forgetful"]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("tvmc run: output 'reconstruction' is not the same") and "Traceback" not in str(lines)


@pytest.mark.parametrize(
    ("device", "reason"),
    [
        (
            "verilator",
            r"--device verilator: no runner of that name is installed: use .*host or iss.* group tvm_pulp\.runners",
        ),
        ("broken", "--device broken: its entry point is not a Runner; reinstall its package"),
        ("absent", "--device absent: its package cannot be loaded .*; reinstall it"),
    ],
)
def test_devices_that_are_not(device: str, reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        app().run(device=device)


def test_every_device_refuses_archives_of_another_kind() -> None:
    with pytest.raises(UserError, match="--device host runs archives compiled for --soc host"):
        app().run(device="host")
