"""The fuzzer itself: what it takes for wrong, that it survives crashes, repeats itself and makes findings small."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.fuzz.__main__ import parse
from tests.fuzz.campaign import Campaign, Finding, Outcome, judge
from tests.fuzz.formats import FORMATS, reports
from tests.fuzz.formats.format import Trial
from tests.fuzz.mutants import Mutant, made_files
from tests.fuzz.processes import Died, Worker
from tests.fuzz.reference_worker import difference

GOOD: dict[str, Any] = {"status": 2, "text": "tvmc compile: no\n", "complaints": "", "leftovers": [], "peak_mib": 9}
EDITED = Mutant(FORMATS["onnx"], 1, 1, (0,))
WRONG = {
    "another exception": {"status": -1, "text": "Traceback\nValueError: x"},
    "a bug": {"status": 1},
    "no sentence": {"text": ""},
    "two kinds of lines": {"text": "tvmc compile: no\nhelp\n"},
    "a long sentence": {"text": "tvmc compile: " + "x" * 3000},
    "a file left behind": {"leftovers": ["model.tar"]},
    "C that does not compile": {"status": 0, "text": "", "complaints": "error"},
    "hunger": {"peak_mib": 5000},
}


@pytest.mark.parametrize("case", WRONG)
def test_what_must_not_happen_is_seen(case: str) -> None:
    assert judge(GOOD, EDITED, "compile") == ""
    assert judge(GOOD | WRONG[case], EDITED, "compile")


def test_a_valid_file_must_work_and_a_guest_ends_as_it_likes() -> None:
    assert "a valid file" in judge(GOOD, replace(EDITED, edits=()), "compile")
    guest = Mutant(FORMATS["elf"], 1, 1, (0,))
    assert judge(GOOD | {"status": 7, "text": ""}, guest, "sim") == ""
    assert judge(GOOD | {"status": 127, "text": ""}, guest, "sim")


@pytest.fixture
def dying() -> Iterator[Worker]:
    worker = Worker("tests.fuzz.dying_worker")
    yield worker
    worker.stop()


@pytest.mark.parametrize(
    ("end", "message"), [("crash", "status -6\n.*Fatal Python error: Aborted"), ("exit", "status 3")]
)
def test_a_crash_is_a_finding_and_not_the_end(end: str, message: str, dying: Worker) -> None:
    with pytest.raises(Died, match=f"(?s){message}"):
        dying.ask({"do": end})
    assert dying.ask({"x": 1}) == {"x": 1}


@pytest.mark.parametrize("name", ["onnx", "tflite", "report", "soc", "study"])
def test_edits_change_valid_files_and_the_same_seed_gives_the_same(name: str, tmp_path: Path) -> None:
    found = FORMATS[name]
    for module in found.needs:
        pytest.importorskip(module)
    valid = made_files(found, tmp_path)
    contents = [path.read_bytes() for path in valid]
    changed = 0
    for number in range(40):
        mutant = Mutant(found, 3, number, (0, 1))
        made = [mutant.write(valid, tmp_path / str(turn)).mutant.read_bytes() for turn in range(2)]
        assert made[0] == made[1]
        changed += made[0] not in contents
    assert changed > 30


class OneCulprit(Campaign):
    """Mutants fail where the second of their edits is among them."""

    def _run(self, mutant: Mutant, outcome: Outcome) -> Finding | None:
        return Finding(mutant, "exit status 1\nValueError: wrong", ["compare"]) if 1 in mutant.edits else None


def test_findings_are_made_small_and_kept(tmp_path: Path) -> None:
    outcome = Outcome()
    with OneCulprit(seed=1) as campaign:
        finding = campaign.try_one(Mutant(reports.FORMAT, 1, 5, (0, 1, 2)), outcome, tmp_path)
        again = campaign.try_one(Mutant(reports.FORMAT, 1, 6, (0, 1, 2)), outcome, tmp_path)
    assert finding is not None and finding.mutant.edits == (1,)
    # Another of the same kind is counted, and not kept.
    assert again is not None and len(outcome.findings) == 2
    (kept,) = tmp_path.iterdir()
    assert json.loads((kept / "finding.json").read_text())["edits"] == [1]
    assert (kept / "mutant.json").is_file() and "ValueError" in (kept / "said.txt").read_text()


def test_findings_of_one_place_are_of_one_kind() -> None:
    text = 'exit status -1\n  File "/a.py", line 3, in f\n  File "/b.py", line {}, in g\nIndexError: {}'
    kinds = [Finding(EDITED, text.format(*case), []).kind for case in ((7, "axis 1"), (7, "axis 22"), (8, "axis 1"))]
    assert kinds[0] == kinds[1] != kinds[2]


@pytest.mark.parametrize(
    ("found", "expected", "wrong"),
    [
        (np.array([3], np.int8), np.array([4], np.int8), False),
        (np.array([3], np.int8), np.array([5], np.int8), True),
        (np.array([-128], np.int8), np.array([127], np.int8), True),
        (np.array([3], np.int8), np.array([3], np.int16), True),
        (np.array([3], np.int8), np.array([[3]], np.int8), True),
        (np.array([np.nan, 1.0]), np.array([np.nan, 1.0001]), False),
        (np.array([np.inf, 1.0]), np.array([-np.inf, 1.0]), True),
        (np.array([1.0, 2.0]), np.array([1.0, 2.1]), True),
        (np.array([], np.float32), np.array([], np.float32), False),
    ],
)
def test_results_are_compared(found: np.ndarray, expected: np.ndarray, wrong: bool) -> None:
    assert bool(difference(found, expected)) == wrong


def test_a_case_is_repeated_for_one_format(capsys: pytest.CaptureFixture[str]) -> None:
    assert [found.name for found in parse(["--format", "elf,onnx", "--case", "3"]).formats] == ["elf", "onnx"]
    with pytest.raises(SystemExit):
        parse(["--format", "jpeg"])
    assert "--format jpeg: choose of onnx" in capsys.readouterr().err


def test_a_trial_lies_beside_an_empty_folder(tmp_path: Path) -> None:
    trial = Mutant(reports.FORMAT, 1, 0).write(made_files(reports.FORMAT, tmp_path), tmp_path / "trial")
    assert trial == Trial(trial.mutant, trial.seed, trial.mutant.parent / "out") and not list(trial.out.iterdir())
    assert trial.mutant.read_bytes() == trial.seed.read_bytes()
