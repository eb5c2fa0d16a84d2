"""NEUREKA, the accelerator of the Siracusa SoC."""

from __future__ import annotations

from uma_backends.neureka.backend import NeurekaBackend

__all__ = ["NeurekaBackend"]
