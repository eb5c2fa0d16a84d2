"""ITA, the integer transformer accelerator."""

from __future__ import annotations

from uma_backends.ita.backend import ItaBackend

__all__ = ["ItaBackend"]
