"""Entry points of installed packages, read once: every reading opens a file of every package. Their versions."""

import sys
from functools import cache
from importlib.metadata import EntryPoints, PackageNotFoundError, version
from importlib.metadata import entry_points as read_all
from pathlib import Path
from typing import Any


def entry_points(group: str) -> EntryPoints:
    """Those of a group; a package that is installed meanwhile is seen."""
    found: EntryPoints = _all(tuple((folder, _changed(folder)) for folder in sys.path)).select(group=group)
    return found


def installed_version(package: str) -> str | None:
    """The version of a package; None where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


@cache
def _all(_folders: tuple[tuple[str, int], ...]) -> Any:
    return read_all()


def _changed(folder: str) -> int:
    """When something was added to a folder, or taken from it."""
    path = Path(folder or ".")
    return path.stat().st_mtime_ns if path.exists() else 0
