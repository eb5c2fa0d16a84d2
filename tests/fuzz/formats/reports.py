"""Reports of runs, which are JSON."""

import json
from collections.abc import Sequence
from pathlib import Path

from tests.fuzz.draws import Random, edit_bytes, one
from tests.fuzz.formats.format import Format, Trial
from tests.fuzz.records import edit_json
from tests.tvmc.test_compare import report


def seeds(folder: Path) -> Sequence[Path]:
    """A report of two layers."""
    (folder / "report.json").write_text(json.dumps(report(200, conv=150, add=50)), encoding="utf-8")
    return [folder / "report.json"]


def edit(rng: Random, content: bytes) -> bytes:
    """Change an entry, or bytes."""
    if rng.random() < 0.15:
        return edit_bytes(rng, content)
    return edit_json(rng, content)


def command(rng: Random, trial: Trial) -> list[str]:
    """Compare it with the valid one."""
    page = one(rng, [[], ["--html", str(trial.out / "page.html")]])
    return ["compare", *one(rng, [[str(trial.mutant), str(trial.seed)], [str(trial.seed), str(trial.mutant)]]), *page]


FORMAT = Format("report", seeds, edit, command)
