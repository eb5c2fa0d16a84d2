"""Which kernels a family has as hand-written ones."""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def available(family: str) -> frozenset[str]:
    """Kernels that are worth calling: those in plain C alone lose to generated C, which knows its sizes."""
    if not family:
        return frozenset()
    folder = resources.files("c_runtime").joinpath("kernels", family)
    return frozenset(entry.name.removesuffix(".c") for entry in folder.iterdir() if entry.name.endswith(".c"))


def lays_out_rows(family: str) -> bool:
    """Whether its products copy rows into scratch even where they are aligned: as pairs, for example."""
    return family in ("rv32im", "rv32")
