"""Sections of BENCHMARKS.md and other pages, each between marks of its own and written by one script."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

BENCHMARKS = Path(__file__).resolve().parent.parent / "BENCHMARKS.md"


def written_cycles() -> list[dict[str, Any]]:
    """Network, configuration and cycles of every row that the table of networks holds now."""
    rows = _cells(_section("Networks", BENCHMARKS).partition("###")[0])
    return [
        {"network": row[0], "configuration": row[1], "cycles": int(row[2].replace(",", ""))}
        for row in rows
        if row[2].replace(",", "").isdigit()
    ]


def written_rows(title: str, page: Path = BENCHMARKS) -> list[list[str]]:
    """Cells of the rows that the table of a section holds now, without those of its head."""
    return _cells(_section(title, page))[2:]


def _section(title: str, page: Path) -> str:
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    return text.partition(f"<!-- begin {title} -->")[2].partition(f"<!-- end {title} -->")[0]


def _cells(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line[:1] == "|"]


def write_section(title: str, lines: Sequence[str], page: Path = BENCHMARKS) -> None:
    """Replace a section, or append it."""
    old = page.read_text(encoding="utf-8") if page.exists() else "# Benchmarks\n"
    begin, end = f"<!-- begin {title} -->", f"<!-- end {title} -->"
    block = "\n".join([begin, "", *lines, end])
    if begin in old:
        head, _, tail = old.partition(begin)
        new = head + block + tail.partition(end)[2]
    else:
        new = f"{old.rstrip()}\n\n## {title}\n\n{block}\n"
    page.write_text(new, encoding="utf-8")
