"""Drives workers through mutants, and judges, minimizes and keeps what must never happen."""

import json
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fuzz.formats.format import Format, Trial
from tests.fuzz.mutants import Mutant, made_files
from tests.fuzz.processes import Died, Worker

LARGEST_MIB = 3072
LONGEST_SENTENCE = 2000


@dataclass(frozen=True)
class Finding:
    """Something that must not happen: what, and by which mutant."""

    mutant: Mutant
    text: str
    command: Sequence[str]

    @property
    def kind(self) -> str:
        """What two findings of one cause have in common: the place of the code and the error, without values."""
        places = re.findall(r'File "([^"]+)", line (\d+)', self.text)
        last = [line for line in self.text.strip().splitlines() if line.strip()][-1]
        name = last.split(":")[0] if places else last
        place = ":".join(places[0 if "most recent call first" in self.text else -1]) if places else ""
        return " ".join([place, re.sub(r"[0-9]+|'[^']*'", "*", name)[:80]])


@dataclass
class Outcome:
    """Exit statuses and findings of a campaign."""

    statuses: Counter[int] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    compared: int = 0
    peak_mib: int = 0

    def report(self) -> str:
        """Both, for a test that failed."""
        shown = [f"{f.mutant} with edits {f.mutant.edits}: {f.text}" for f in self.findings[:5]]
        return f"{len(self.findings)} findings, statuses {dict(self.statuses)}\n" + "\n".join(shown)


class Campaign:
    """Runs mutants of formats; `environment` is that of the process that the compiler runs in."""

    def __init__(self, seed: int, environment: Mapping[str, str] | None = None) -> None:
        self.seed = seed
        self._folder = tempfile.TemporaryDirectory(prefix="tvm_pulp_fuzz_")
        self._worker, self._reference = Worker(environment=environment), Worker("tests.fuzz.reference_worker")
        self._files: dict[str, Sequence[Path]] = {}

    def __enter__(self) -> "Campaign":
        return self

    def __exit__(self, *_error: object) -> None:
        self._worker.stop()
        self._reference.stop()
        self._folder.cleanup()

    def files(self, format: Format) -> Sequence[Path]:
        """The valid files of a format."""
        if format.name not in self._files:
            self._files[format.name] = made_files(format, Path(self._folder.name))
        return self._files[format.name]

    def try_one(self, mutant: Mutant, outcome: Outcome, keep: Path | None = None) -> Finding | None:
        """Run a mutant. A finding of a new kind is made as small as it goes, and kept in a folder, if one is named."""
        finding = self._run(mutant, outcome)
        if finding is None:
            return None
        if all(finding.kind != known.kind for known in outcome.findings):
            finding = self._minimized(finding)
            if keep is not None:
                self._keep(finding, keep / f"{mutant.format.name}-{self.seed}-{mutant.number}")
        outcome.findings.append(finding)
        return finding

    def _run(self, mutant: Mutant, outcome: Outcome) -> Finding | None:
        place = Path(self._folder.name) / "trial"
        shutil.rmtree(place, ignore_errors=True)
        trial = mutant.write(self.files(mutant.format), place)
        command = mutant.command(trial)
        arrays = place / "arrays.npz"
        request = {"arguments": command, "out": str(trial.out), "compare": ""}
        if mutant.compared and "--target" not in command:
            request["compare"] = str(arrays)
        try:
            answer = self._worker.ask(request)
            complaint = judge(answer, mutant, command[0])
            outcome.statuses[answer["status"]] += 1
            outcome.peak_mib = max(outcome.peak_mib, answer["peak_mib"])
            if not complaint and arrays.is_file():
                complaint = self._compared(trial, arrays, outcome)
        except Died as error:
            complaint = str(error)
        return Finding(mutant, complaint, command) if complaint else None

    def _compared(self, trial: Trial, arrays: Path, outcome: Outcome) -> str:
        try:
            complaint = self._reference.ask({"model": str(trial.mutant), "arrays": str(arrays)})
        except Died:
            return ""  # it is the framework that fails
        outcome.compared += complaint is not None
        return f"results are wrong: {complaint}" if complaint else ""

    def _minimized(self, finding: Finding) -> Finding:
        """Without the edits that it does not need."""
        for place in finding.mutant.edits:
            smaller = self._run(finding.mutant.without(place), Outcome())
            if smaller is not None and smaller.kind == finding.kind:
                finding = smaller
        return finding

    def _keep(self, finding: Finding, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        trial = finding.mutant.write(self.files(finding.mutant.format), folder)
        trial.out.rmdir()
        mutant = finding.mutant
        facts = {"format": mutant.format.name, "seed": mutant.seed, "case": mutant.number, "edits": mutant.edits}
        record = {**facts, "of": trial.seed.name, "command": finding.command, "kind": finding.kind}
        (folder / "finding.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        (folder / "said.txt").write_text(finding.text + "\n", encoding="utf-8", errors="replace")


def judge(answer: Mapping[str, Any], mutant: Mutant, verb: str) -> str:
    """What is wrong with an answer; empty where nothing is."""
    status, text = answer["status"], answer["text"].strip()
    lines = text.splitlines()
    if status not in {0, 2} | mutant.format.statuses:
        return f"exit status {status}\n{text}"
    if not mutant.edits and status not in mutant.format.valid:
        return f"a valid file ends with status {status}\n{text}"
    is_guest = verb == "sim" and status < 126
    if status and not is_guest:
        told = [line for line in lines if line.startswith(f"tvmc {verb}: ")]
        if len(told) != len(lines) or not told or len(told[-1]) > LONGEST_SENTENCE or "Traceback" in text:
            return f"not one sentence\n{text}"
        if answer["leftovers"] and status == 2:
            return f"left behind {answer['leftovers']}\n{text}"
    if answer["complaints"]:
        return f"emitted C does not compile\n{answer['complaints']}"
    if answer["peak_mib"] > LARGEST_MIB:
        return f"{answer['peak_mib']} MiB of memory"
    return ""
