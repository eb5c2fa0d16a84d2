"""How a prompt is cut: the cheapest sequence of programs, of one token and of several, by their expected cycles; its C.

A program of several tokens takes as long for fewer: the rest of a prompt may be cheaper token by token.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tvm_pulp.language_models.entry_module import EntryModule


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


def cuts_table(cuts: Sequence[int]) -> str:
    """The table that says how a prompt is cut."""
    return (
        "/* Tokens that the next program takes so that all are seen soonest, as planned, by how many are left. */\n"
        f"static const uint8_t cuts[{len(cuts)}] = {{{', '.join(map(str, cuts))}}};\n\n"
    )


def choice(chunks: Sequence[tuple[str, EntryModule]]) -> str:
    """Statements of the loop over a prompt: the program that sees the next tokens. Of `chunks` the largest is first."""
    one = ["count = 1u;", "status = see_one(tokens[done]);"]
    if not chunks:
        return "\n".join(f"    {line}" for line in one)
    most = chunks[0][1].rows
    lines = [
        f"    const uint32_t left = n - done, wanted = cuts[left < {most}u ? left : {most}u];",
        "    /* A chunk that would end behind the last row of the state is seen in smaller ones. */",
    ]
    for place, (entry, chunk) in enumerate(chunks):
        lines += [
            f"    {'} else ' if place else ''}if (wanted >= {chunk.rows}u && (uint32_t)length <= {chunk.past}u) {{",
            f"      count = left < {chunk.rows}u ? left : {chunk.rows}u;",
            f"      status = see_{entry}(tokens + done, count);",
        ]
    return "\n".join([*lines, "    } else {", *(f"      {line}" for line in one), "    }"])
