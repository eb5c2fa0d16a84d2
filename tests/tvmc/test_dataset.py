"""`tvmc run --dataset`: every sample as a run of its own gives it; accuracy, cycles and a reference beside them."""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvm_pulp
from tvm_pulp.errors import UserError, WrongAnswer
from tvm_pulp.report.evaluate import evaluate
from tvm_pulp.sim.runner import Runner, Statistics
from tvm_pulp.tvmc.main import main

COUNT = 6


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("dataset")
    tvm_pulp.compile("zoo:dscnn", target="uma-neureka").save(made / "net.tar")
    tvm_pulp.compile("zoo:dscnn").save(made / "host.tar")
    samples = np.random.default_rng(3).integers(-128, 128, (COUNT, 1, 49, 10)).astype(np.int8)
    np.savez(made / "samples.npz", spectrogram=samples)
    return made


def test_as_single_runs(folder: Path) -> None:
    app, host = tvm_pulp.App.load(folder / "net.tar"), tvm_pulp.App.load(folder / "host.tar")
    samples = np.load(folder / "samples.npz")["spectrogram"]
    told: list[tuple[int, int]] = []
    found = app.evaluate({"spectrogram": samples}, progress=lambda *both: told.append(both))
    single = [app.run([sample]) for sample in samples[:2]]
    assert found.cycles is not None and found.cycles[:2].tolist() == [run.report["cycles"] for run in single]
    expected = np.stack([host.run([sample]).outputs["logits"] for sample in samples])
    np.testing.assert_array_equal(found.outputs["logits"], expected)
    assert told == [(n, COUNT) for n in range(1, COUNT + 1)]
    assert found.accuracy is None and found.samples == COUNT
    classes = expected.reshape(COUNT, -1).argmax(1)
    assert app.evaluate([samples], (classes + (np.arange(COUNT) < 2)) % 12).accuracy == pytest.approx(4 / 6)


def test_command_line(folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    np.savez(tmp_path / "labels.npz", np.zeros(COUNT, np.int64))
    options = ["--dataset", folder / "samples.npz", "--labels", tmp_path / "labels.npz"]
    options += ["--reference", folder / "host.tar", "--report", tmp_path / "r.json", "-o", tmp_path / "out.npz"]
    assert main(["run", str(folder / "net.tar"), *map(str, options)]) == 0
    text = capsys.readouterr()
    assert f"{COUNT} samples" in text.out and "% right" in text.out and f"equal outputs in {COUNT}" in text.out
    assert f"{COUNT} of {COUNT} samples" in text.err
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["samples"] == COUNT and report["cycles"]["least"] <= report["cycles"]["mean"]
    assert report["reference"] == {"accuracy": report["accuracy"], "same_class": COUNT, "equal": COUNT}
    assert np.load(tmp_path / "out.npz")["logits"].shape[0] == COUNT


def test_a_second_inference_that_differs_is_no_answer() -> None:
    class Forgetful(Runner):
        def build(self, files: dict[str, bytes], metadata: dict[str, Any], toolchain: str | None = None) -> None: ...
        def load(self, inputs: Sequence[np.ndarray], *, trace: bool = False) -> None: ...

        def run(self, inferences: int) -> None:
            self._inferences = inferences

        def read_back(self) -> list[np.ndarray]:
            return [np.array([self._inferences], np.int8)]

        def statistics(self) -> Statistics:
            return Statistics(0.0, 0.0)

    ends = {"inputs": [{"name": "x", "shape": [1], "dtype": "int8"}], "outputs": [{"name": "y"}]}
    with pytest.raises(WrongAnswer, match="'y' is not the same after one inference and after two"):
        evaluate(Forgetful(), {"tvm_pulp": ends}, [np.zeros((1, 1), np.int8)], None, lambda *_: None)


@pytest.mark.slow
def test_many_samples_are_quick(folder: Path) -> None:
    """At least twenty a second of one processor, by what it did, which other work on the machine does not lengthen."""
    app = tvm_pulp.App.load(folder / "net.tar")
    samples = np.repeat(np.load(folder / "samples.npz")["spectrogram"], 10, axis=0)
    app.evaluate([samples[:1]])  # the program is built once
    before = time.process_time()
    app.evaluate([samples])
    assert len(samples) / (time.process_time() - before) >= 20


def test_outputs_that_differ_are_counted(folder: Path) -> None:
    app = tvm_pulp.App.load(folder / "host.tar")
    samples = np.load(folder / "samples.npz")["spectrogram"]
    other = samples.copy()
    other[0] = -other[0] // 2
    classes, equal = app.evaluate([samples]).agreement(app.evaluate([other]))
    assert equal == COUNT - 1 <= classes


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--labels", "wrong.npz"], "--labels has no effect without --dataset"),
        (["--dataset", "samples.npz", "--inputs", "samples.npz"], "--inputs is of a single run"),
        (["--dataset", "samples.npz", "--repeat", "2"], "--repeat is of a single run"),
        (["--dataset", "samples.npz", "--labels", "wrong.npz"], "not one integer for every sample"),
        (["--dataset", "samples.npz", "--labels", "few.npz"], "different numbers of samples"),
        (["--dataset", "scalar.npz"], "holds no samples"),
        (["--dataset", "samples.npz", "--max-cycles", "5"], "--max-cycles has no effect on --device host"),
        (["--dataset", "samples.npz", "--toolchain", "gcc"], "--toolchain gcc has no effect on --device host"),
    ],
)
def test_wrong_options(
    options: list[str], sentence: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    np.savez("wrong.npz", np.zeros((COUNT, 12)))
    np.savez("few.npz", np.zeros(COUNT - 1, np.int64))
    np.savez("scalar.npz", spectrogram=np.int8(3))
    assert main(["run", "host.tar", *options]) == 2
    assert sentence in capsys.readouterr().err


def test_a_wrong_shape_is_named(folder: Path) -> None:
    with pytest.raises(UserError, match="input 'spectrogram' has shape"):
        tvm_pulp.App.load(folder / "host.tar").evaluate({"spectrogram": np.zeros((2, 7, 7), np.int8)})
