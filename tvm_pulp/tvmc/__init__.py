"""The command line: `main`, and one module per verb."""

from __future__ import annotations

__all__ = [
    "compile",
    "explain",
    "main",
    "plan",
    "run",
    "sim",
    "targets",
    "uma",
]
