"""A table, and sentences, that fit their terminal: columns that have no room follow below, with the first one repeated.

No figure is cut, and nothing is left out below the limit `report_layers`. Where there is no terminal, a table is as
wide as it needs to be.
"""

import os
from collections.abc import Sequence
from textwrap import fill
from typing import TextIO

from tvm_pulp.limits import REPORT_LAYERS, VARIABLE

# A border and a space on both sides of each column, and the last border.
_FRAME = 3
# Names longer than this part of the width are shortened in the middle.
_NAME_SHARE = 2 / 5


def print_fitted(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], texts: int, stream: TextIO) -> None:
    """Print rows under columns; the first `texts` columns are words, the others figures."""
    from rich.console import Console
    from rich.table import Table

    more, rows = len(rows) - REPORT_LAYERS.most, rows[: REPORT_LAYERS.most]
    limit = terminal_width(stream)
    needed = [max(len(c), *(len(row[i]) for row in rows)) if rows else len(c) for i, c in enumerate(columns)]
    whole = _width(needed)
    if limit is not None and whole > limit:
        needed[0] = min(needed[0], max(12, int(limit * _NAME_SHARE)))
    console = Console(file=stream, width=max(whole, 20) if limit is None else limit)
    for number, block in enumerate(blocks(needed, limit)):
        table = Table(title=title if not number else "continued", title_justify="left")
        for i in block:
            # Words may go on in the next line; a figure is one.
            table.add_column(columns[i], justify="left" if i < texts else "right", no_wrap=i == 0 or i >= texts)
        for row in rows:
            table.add_row(shortened(row[0], needed[0]), *(row[i] for i in block[1:]))
        console.print(table)
    if more > 0:
        print_wrapped(
            f"... and {more:,} rows more ({REPORT_LAYERS.name} in {VARIABLE} says how many are shown)", stream
        )


def print_wrapped(text: str, stream: TextIO) -> None:
    """Print a sentence in lines that break between words; as one line where there is no terminal."""
    limit = terminal_width(stream)
    print(text if limit is None else fill(text, limit, break_on_hyphens=False), file=stream)


def blocks(widths: Sequence[int], limit: int | None) -> list[list[int]]:
    """Columns of each table, by their numbers: the first one, and as many more as have room."""
    found = [[0]]
    for i in range(1, len(widths)):
        full = limit is not None and _width([widths[j] for j in (*found[-1], i)]) > limit
        if full and len(found[-1]) > 1:
            found.append([0])
        found[-1].append(i)
    return found


def shortened(name: str, width: int) -> str:
    """A name of at most `width` characters: both its ends tell it from others."""
    if len(name) <= width:
        return name
    tail = (width - 1) * 2 // 3
    return f"{name[: width - 1 - tail]}…{name[len(name) - tail :]}"


def _width(widths: Sequence[int]) -> int:
    return sum(widths) + _FRAME * len(widths) + 1


def terminal_width(stream: TextIO) -> int | None:
    """Columns of the terminal, or those that the environment states; None for a file or a pipe."""
    stated = os.environ.get("COLUMNS", "")
    if stated.isdigit() and int(stated) > 0:
        return int(stated)
    if not stream.isatty():
        return None
    try:
        return os.get_terminal_size(stream.fileno()).columns or None
    except (OSError, ValueError):
        return None
