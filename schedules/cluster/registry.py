"""Schedules by operator: the kernels that may run a layer. Each registers itself; all lists come from here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from schedules.cluster.base import KernelForm
from tvm_pulp.qnn.network import Layer


@dataclass(frozen=True)
class Schedule:
    """A form of layers, where `applies` says so; the first line of its docstring tells users which layers these are."""

    applies: Callable[[Layer], bool]
    form: type[KernelForm]
    # The file of the kernel that a family of cores must have, if that is not the form's own.
    needs: str = ""
    # It needs less L1 than what is offered else: offered beside the first that applies.
    is_smaller: bool = False

    @property
    def kernel(self) -> str:
        return self.needs or self.form.kernel


SCHEDULES: dict[str, list[Schedule]] = {}


def register(operator: str, *schedules: Schedule, first: bool = False) -> None:
    """Make schedules of an operator known, behind those known already, or before them."""
    known = SCHEDULES.setdefault(operator, [])
    known[:] = [*schedules, *known] if first else [*known, *schedules]
