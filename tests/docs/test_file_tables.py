"""The tables of files in the engines' pages name files that there are."""

import re
from pathlib import Path

import pytest

PAGES = ("ita", "ne16", "neureka")


@pytest.mark.parametrize("engine", PAGES)
def test_named_files_exist(engine: str, repository: Path) -> None:
    page = repository / "uma_backends" / engine / "README.md"
    known = {
        path.name for folder in ("c_runtime", "tvm_pulp", "uma_backends") for path in (repository / folder).rglob("*.*")
    }
    named = re.findall(r"`([\w/]+\.(?:py|c|h))`", page.read_text(encoding="utf-8"))
    assert [name for name in named if name.rpartition("/")[2] not in known] == []
