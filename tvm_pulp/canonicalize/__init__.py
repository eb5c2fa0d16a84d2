"""Passes that make the integer dialect of what every frontend gives; `pipeline` runs those that a module needs."""

from __future__ import annotations

__all__ = [
    "pipeline",
]
