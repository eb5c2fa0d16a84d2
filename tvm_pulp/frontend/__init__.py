"""Model files to Relax. Public modules: `load` opens any file, `imported` is what all importers return."""

__all__ = [
    "imported",
    "load",
]
