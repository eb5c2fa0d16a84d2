"""GVSoC, an installation of the user's own, as a device."""

__all__ = ["installation", "runner"]
