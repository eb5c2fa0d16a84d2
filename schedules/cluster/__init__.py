"""How the cluster cores run each operator with the hand-written kernels."""

from __future__ import annotations

from schedules.cluster.catalog import described, forms
from schedules.cluster.steps import step_call

__all__ = ["described", "forms", "step_call"]
