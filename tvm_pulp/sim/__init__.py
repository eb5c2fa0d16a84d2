"""Devices that programs run on. Public modules: `host` is this machine, `iss` the virtual SoC."""

from __future__ import annotations

__all__ = [
    "host",
    "iss",
]
