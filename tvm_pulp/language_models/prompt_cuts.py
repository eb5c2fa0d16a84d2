"""How a prompt is cut: the cheapest sequence of programs, of one token and of several, by their expected cycles.

A program of several tokens takes as long for fewer: the rest of a prompt may be cheaper token by token.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Cut:
    """Expected cycles of some tokens, and how many of them the first program takes."""

    cycles: int
    first: int


def cheapest_cuts(cycles: Mapping[int, int], tokens: int) -> list[Cut]:
    """The best cut of 0 to so many tokens; `cycles` are those of programs by their tokens, one of them of one token."""
    cuts = [Cut(0, 0)]
    for left in range(1, tokens + 1):
        tries = (Cut(each + cuts[max(0, left - rows)].cycles, rows) for rows, each in cycles.items())
        # Of two that take the same, the smaller program.
        cuts.append(min(tries, key=lambda cut: (cut.cycles, cut.first)))
    return cuts
