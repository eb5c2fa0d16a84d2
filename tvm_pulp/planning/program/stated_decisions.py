"""Decisions that a user states: part of a plan, in a file or in Python. docs/planning.md explains them."""

from dataclasses import dataclass, field
from typing import ClassVar

from pydantic import ConfigDict


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedLayer:
    """Statements about a layer, in the words of plan.json; None: nothing is stated."""

    engine: str | None = None
    form: str | None = None
    tile: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedDecisions:
    """The whole file."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)

    # Layers that run in this order; others run where they may.
    order: tuple[str, ...] = ()
    layers: dict[str, StatedLayer] = field(default_factory=dict)
    # Memories of constants, by the names that plan.json gives them.
    levels: dict[str, str] = field(default_factory=dict)
