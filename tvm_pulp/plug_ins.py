"""Entry points of installed packages, read once: every reading opens a file of every package."""

import sys
from functools import cache
from importlib.metadata import EntryPoints
from importlib.metadata import entry_points as read_all
from pathlib import Path
from typing import Any


def entry_points(group: str) -> EntryPoints:
    """Those of a group; a package that is installed meanwhile is seen."""
    found: EntryPoints = _all(tuple((folder, _changed(folder)) for folder in sys.path)).select(group=group)
    return found


@cache
def _all(_folders: tuple[tuple[str, int], ...]) -> Any:
    return read_all()


def _changed(folder: str) -> int:
    """When something was added to a folder, or taken from it."""
    path = Path(folder or ".")
    return path.stat().st_mtime_ns if path.exists() else 0
