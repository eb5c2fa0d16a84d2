"""Folders that live as long as the process of the tests."""

import tempfile
from pathlib import Path

# A folder goes when its object does: with the process.
_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []


def process_folder() -> Path:
    """A new folder, which is removed when the process ends."""
    _FOLDERS.append(tempfile.TemporaryDirectory(prefix="tvm_pulp_", ignore_cleanup_errors=True))
    return Path(_FOLDERS[-1].name)
