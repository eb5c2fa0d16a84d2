"""Patterns of an engine: what it could run as one, and what tells whether it takes a match."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tvm_pulp.uma.strategy import Refusal

# Whether an engine takes what a pattern matched: yes, or why not. It is told an `annotate.Match`.
Check = Callable[[Any], bool | str | Refusal]


@dataclass(frozen=True)
class Pattern:
    """Operators that an engine could run as one: a pattern of `tvm.relax.dpl`, or a function that makes it."""

    name: str
    given: Any
    check: Check

    @cached_property
    def expression(self) -> Any:
        return self.given() if inspect.isroutine(self.given) else self.given


def pattern_of(name: str, *operands: Any) -> Any:
    """A call of an operator of the dialect, or of Relax, on operands: patterns, or None for anything.

    Without operands it may have any. Patterns need TVM, so they are made on demand.
    """
    from tvm.relax.dpl import is_op, wildcard

    call = is_op(name if name.startswith("relax.") else f"tvm_pulp.qnn.{name}")
    if not operands:
        return call(varg_default_wildcard=True)
    return call(*(wildcard() if operand is None else operand for operand in operands))
