"""ETISS, an installation of the user's own, as a device."""

__all__ = ["ini", "runner"]
