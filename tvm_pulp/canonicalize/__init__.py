"""Passes that make the integer dialect of what every frontend gives; `pipeline` runs those that a module needs."""

__all__ = [
    "pipeline",
]
