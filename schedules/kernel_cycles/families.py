"""Families of kernels: what differs from one kind of cores to another beside the coefficients of their costs."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from schedules.kernel_cycles import pairs, rv32
from schedules.kernel_cycles.model import WorkOf


@dataclass(frozen=True)
class Family:
    """A folder of `c_runtime/kernels`, as far as its kernels are not like those of the others."""

    # Kernels that only this family has, or that do their work in another way.
    works: Mapping[str, WorkOf] = field(default_factory=dict)
    # Products copy rows into scratch even where they are aligned: as pairs, for example.
    lays_out_rows: bool = False


_FAMILIES = {"rv32im": Family(pairs.WORKS, lays_out_rows=True), "rv32": Family(rv32.WORKS, lays_out_rows=True)}


def family_of(name: str) -> Family:
    return _FAMILIES.get(name, Family())
