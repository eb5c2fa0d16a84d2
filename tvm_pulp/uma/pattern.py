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
