"""Model files to Relax. Public modules: `load` opens any file, `imported` is what all importers return."""

from __future__ import annotations

__all__ = [
    "imported",
    "load",
]
