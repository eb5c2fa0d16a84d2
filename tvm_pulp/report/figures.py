"""Figures of reports: their texts, and sums by name."""

from collections.abc import Iterable
from typing import Any


def figure(value: Any) -> str:
    """Numbers with thousands separators; unknown is a dash."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def summed(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Sums of figures by name, names in the order in which they come first."""
    found: dict[str, int] = {}
    for name, amount in pairs:
        found[name] = found.get(name, 0) + amount
    return found


def shares(amounts: dict[str, int]) -> dict[str, float]:
    """Parts of the whole, largest first; those of nothing are left out."""
    total = sum(amounts.values())
    return {name: amount / total for name, amount in sorted(amounts.items(), key=lambda entry: -entry[1]) if amount}
