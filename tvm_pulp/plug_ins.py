"""Entry points of installed packages, read once: every reading opens a file of every package. Their versions.

Packages that not everybody has.
"""

import importlib
import sys
from functools import cache
from importlib.metadata import EntryPoints, PackageNotFoundError, version
from importlib.metadata import entry_points as read_all
from pathlib import Path
from typing import Any

from tvm_pulp.errors import UserError


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


def needed(module: str, sentence: str) -> Any:
    """A module of a package that not everybody has; a user error with this sentence where it cannot be imported.

    `{}` in the sentence stands for what is missing.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise UserError(sentence.replace("{}", error.name or module)) from None


@cache
def _all(_folders: tuple[tuple[str, int], ...]) -> Any:
    return read_all()


def _changed(folder: str) -> int:
    """When something was added to a folder, or taken from it."""
    path = Path(folder or ".")
    return path.stat().st_mtime_ns if path.exists() else 0
