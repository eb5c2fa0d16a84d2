"""Rules state what they need; where an expression lacks it, they do not apply.

    weight = needed(constant(call.args[1]))
    require(weight.ndim == 4)

A pass whose `visit` ends this way leaves the value as it was; a rule that others try is marked `or_none`.
"""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Mismatch(Exception):
    """An expression is not what a rule is for."""


def require(condition: object) -> None:
    """Go on only where a condition holds."""
    if not condition:
        raise Mismatch


def needed(value: T | None) -> T:
    """A value that must be there."""
    if value is None:
        raise Mismatch
    return value


def or_none(rule: Callable[P, T]) -> Callable[P, T | None]:
    """Mark a rule that gives None where it does not apply."""

    @wraps(rule)
    def tried(*arguments: P.args, **named: P.kwargs) -> T | None:
        try:
            return rule(*arguments, **named)
        except Mismatch:
            return None

    return tried


def first_of(rules: Iterable[Callable[..., Any]], *arguments: Any) -> Any:
    """The result of the first rule that applies, or None."""
    return next((found for rule in rules if (found := rule(*arguments)) is not None), None)
