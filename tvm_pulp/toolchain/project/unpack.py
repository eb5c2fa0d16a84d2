"""An archive's files in a folder."""

from collections.abc import Mapping
from pathlib import Path


def unpack(files: Mapping[str, bytes], folder: Path) -> None:
    """Write the archive's files below a folder."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
