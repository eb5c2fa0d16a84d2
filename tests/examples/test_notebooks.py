"""Every notebook runs from its committed form, its own checks hold, and it shows what the committed form shows."""

from pathlib import Path
from typing import Any

import pytest

from tvm_pulp.live_progress import NOTEBOOK_MARK

nbformat = pytest.importorskip("nbformat", reason="notebooks need pip install 'tvm_pulp[notebooks]'")
nbclient = pytest.importorskip("nbclient", reason="notebooks need pip install 'tvm_pulp[notebooks]'")
pytest.importorskip("ipykernel", reason="notebooks need pip install 'tvm_pulp[notebooks]'")
pytest.importorskip("optuna", reason="notebooks need pip install 'tvm_pulp[notebooks]'")

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.ipynb"))
# The others take up to a minute.
SHORT = "first_steps"


def kinds(cell: Any) -> list[str]:
    """What a cell shows: text and media, pictures told apart from tables. What is built once is told to stderr."""
    found = []
    for output in cell.get("outputs", ()):
        if output.output_type == "stream" and output.name == "stdout":
            found.append(f"stream {output.name}")
        for kind, data in sorted(output.get("data", {}).items()):
            text = "".join(data)
            if NOTEBOOK_MARK in "".join(output.data.get("text/html", "")):
                continue
            shown = [mark for mark in ("<table", "<svg", "<circle", "<rect") if mark in text]
            found.append(" ".join([kind, *shown]))
    return found


def test_all_are_there() -> None:
    assert NAMES == [
        "add_an_accelerator",
        "first_steps",
        "geometry_pareto_front",
        "language_model_context",
        "what_each_part_brings",
    ]


@pytest.mark.parametrize("name", [pytest.param(n, marks=[] if n == SHORT else pytest.mark.slow) for n in NAMES])
def test_it_runs_and_shows_the_same(name: str, tmp_path: Path) -> None:
    committed = nbformat.read(EXAMPLES / f"{name}.ipynb", 4)
    executed = nbformat.reads(nbformat.writes(committed), 4)
    for cell in executed.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    nbclient.NotebookClient(executed, timeout=280, resources={"metadata": {"path": str(tmp_path)}}).execute()
    for before, after in zip(committed.cells, executed.cells, strict=True):
        assert kinds(before) == kinds(after), after.source
    # A notebook without a check would run whatever came out, one without a picture shows nothing.
    assert any("assert " in cell.source for cell in executed.cells)
    assert any("<svg" in kind or "vegalite" in kind for cell in executed.cells for kind in kinds(cell))
