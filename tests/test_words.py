"""Words of the source: docstrings are sentences with a subject, and no file is too long to be read at once."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
PYTHON = ("tvm_pulp", "uma_backends", "schedules")
C = ("c_runtime", "uma_backends", "tvm_pulp")
LONGEST = 400
# A sentence that begins so has no subject: "What a tile needs", "Whether it fits".
WITHOUT_SUBJECT = ("What", "Whether", "Where")


def python_files(root: Path) -> Iterator[Path]:
    for top in PYTHON:
        yield from sorted((root / top).rglob("*.py"))


def docstrings_without_subject(root: Path) -> list[str]:
    """File and line of every definition whose docstring begins with a question word."""
    found = []
    for path in python_files(root):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node) or ""
                if text.split(" ")[0] in WITHOUT_SUBJECT:
                    found.append(f"{path.relative_to(root)}:{getattr(node, 'lineno', 1)}: {text.splitlines()[0]}")
    return found


def test_docstrings_have_subjects() -> None:
    assert docstrings_without_subject(REPOSITORY) == []


@pytest.mark.parametrize("text", ["What a tile needs.", "Whether it fits.", "Where it lies."])
def test_a_docstring_without_a_subject_is_found(tmp_path: Path, text: str) -> None:
    (tmp_path / "schedules").mkdir()
    (tmp_path / "schedules" / "a.py").write_text(f'"""Tiles."""\n\n\ndef f():\n    """{text}"""\n')
    assert docstrings_without_subject(tmp_path) == [f"schedules/a.py:4: {text}"]


def test_no_file_is_longer_than_can_be_read_at_once() -> None:
    sources = [path for top in C for path in (REPOSITORY / top).rglob("*.[ch]")]
    lengths = {
        path: len(path.read_text(encoding="utf-8").splitlines()) for path in [*python_files(REPOSITORY), *sources]
    }
    assert [f"{path}: {length}" for path, length in lengths.items() if length > LONGEST] == []
