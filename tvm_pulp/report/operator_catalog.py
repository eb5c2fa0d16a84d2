"""Operators that are understood, and who runs them: collected from the registries, for `tvmc targets` and the docs."""

import inspect
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tvm_pulp.qnn import OPERATORS
from tvm_pulp.uma import registry
from tvm_pulp.uma.backend import UMABackend


@dataclass(frozen=True)
class Runs:
    """An engine, or a kernel of the cores, that takes an operator; `limits` says which layers."""

    engine: str
    how: str
    limits: str


@dataclass(frozen=True)
class DialectOperator:
    """An operator of the integer dialect."""

    name: str
    summary: str
    details: str
    attributes: tuple[str, ...]
    runs: tuple[Runs, ...]


def dialect_operators(backends: Sequence[UMABackend], family: str) -> list[DialectOperator]:
    """Operators in alphabetical order, for these engines and the hand-written kernels of one family of cores."""
    engines: dict[str, list[Runs]] = {}
    for backend in backends:
        for pattern in backend.patterns:
            for operator in dict.fromkeys(_operators_in(pattern.expression)):
                engines.setdefault(operator, []).append(
                    Runs(backend.target_name, pattern.name, backend.limits(pattern.name))
                )
    kernels = registry.core_kernels(family)
    found = []
    for name in sorted(OPERATORS):
        # Of a family of operators in one file, each has a text of its own.
        text = type(OPERATORS[name]).__doc__ or sys.modules[OPERATORS[name].__module__].__doc__ or ""
        summary, _, details = inspect.cleandoc(text).partition("\n")
        runs = [*engines.get(name, []), *(Runs("cores", f"{k} kernel", limits) for k, limits in kernels.get(name, []))]
        attributes = tuple(OPERATORS[name].attribute_names.split())
        runs.append(Runs("cores", "generated C", "any layer"))
        found.append(DialectOperator(name, summary, details.strip(), attributes, tuple(runs)))
    return found


def own_backends() -> list[UMABackend]:
    """Engines that come with this package, whatever else is installed."""
    backends = [registry.backend(name) for name in registry.names()]
    return [backend for backend in backends if type(backend).__module__.startswith("uma_backends.")]


def integer_between_quantizations() -> list[str]:
    """Float operators that become integer layers between a dequantization and a quantization."""
    from tvm_pulp.canonicalize.qdq import integer_operators

    return sorted(
        name.removeprefix("relax.").removeprefix("nn.").removeprefix("image.") for name in integer_operators()
    )


def _operators_in(pattern: Any) -> list[str]:
    """Operators of the dialect that a pattern is made of."""
    from tvm_pulp.qnn.operator import PREFIX

    found: list[str] = []
    pending = [pattern]
    while pending:
        part = pending.pop()
        operator = getattr(part, "op", None)
        name = getattr(getattr(operator, "expr", None), "name", "")
        if name.startswith(PREFIX):
            found.append(name.removeprefix(PREFIX))
        pending += list(getattr(part, "args", None) or [])
    return found
