"""ITA, the integer transformer accelerator."""

from uma_backends.ita.backend import ItaBackend

__all__ = ["ItaBackend"]
