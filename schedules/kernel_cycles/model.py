"""From counted work to cycles."""

from __future__ import annotations

from collections.abc import Mapping

from schedules.kernel_cycles.coefficients import COEFFICIENTS

Work = Mapping[str, float]
"""How often the slowest core does what: names of coefficients with counts."""


def share(items: int, cores: int) -> int:
    """Items of the core that has most."""
    return -(-items // cores)


def words(size: int) -> int:
    """Whole words that hold so many bytes."""
    return -(-size // 4)


def predict(model: str, work: Work) -> int:
    """Cycles of a call."""
    coefficients = COEFFICIENTS[model].values
    return max(1, round(sum(coefficients[name] * count for name, count in work.items() if count)))
