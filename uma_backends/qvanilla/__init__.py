"""QVanilla, the accelerator of the tutorial: one convolution at a time, behind twelve registers."""

from uma_backends.qvanilla.backend import QVanillaBackend

__all__ = ["QVanillaBackend"]
