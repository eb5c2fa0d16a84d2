"""C that cuts a prompt: a table of how many tokens the next program takes, and the branches that call programs."""

from collections.abc import Sequence

from tvm_pulp.language_models.entry_module import EntryModule


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
