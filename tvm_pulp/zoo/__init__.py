"""The project's own models, built by code from a seed: no file from outside is needed."""

from __future__ import annotations

from tvm_pulp.zoo.catalog import build, names, sample_inputs

__all__ = ["build", "names", "sample_inputs"]
