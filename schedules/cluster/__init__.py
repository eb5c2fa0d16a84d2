"""How the cluster cores run each operator with the hand-written kernels."""

from __future__ import annotations

from schedules.cluster.catalog import forms

__all__ = ["forms"]
