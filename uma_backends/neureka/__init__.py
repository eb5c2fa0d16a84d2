"""NEUREKA, the accelerator of the Siracusa SoC."""

from uma_backends.neureka.backend import NeurekaBackend

__all__ = ["NeurekaBackend"]
