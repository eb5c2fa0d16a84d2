"""Texts compared with files of the tree: a different one is shown as a diff, with the command that accepts it."""

import difflib
import os
from pathlib import Path

import pytest

_UPDATE = "TVM_PULP_UPDATE_GOLDEN"


def check_golden(path: Path, text: str) -> None:
    """Fail with a unified diff unless the file holds this text; with TVM_PULP_UPDATE_GOLDEN=1 write it there first."""
    if os.environ.get(_UPDATE) == "1":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    known = path.read_text(encoding="utf-8") if path.exists() else ""
    if known != text:
        sides = known.splitlines(), text.splitlines()
        diff = "\n".join(difflib.unified_diff(*sides, str(path), "as it is now", lineterm=""))
        test = os.environ.get("PYTEST_CURRENT_TEST", "").split(" ")[0]
        pytest.fail(f"{diff}\n\nTo accept it: {_UPDATE}=1 scripts/test '{test}'", pytrace=False)
