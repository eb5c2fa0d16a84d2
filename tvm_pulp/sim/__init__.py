"""Devices that programs run on. Public modules: `host` is this machine, `iss` the virtual SoC."""

__all__ = [
    "host",
    "iss",
]
