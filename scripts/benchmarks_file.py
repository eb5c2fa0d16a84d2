"""Sections of BENCHMARKS.md, each between marks of its own and written by one script."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parent.parent / "BENCHMARKS.md"


def write_section(title: str, lines: Sequence[str]) -> None:
    """Replace a section, or append it."""
    old = BENCHMARKS.read_text(encoding="utf-8") if BENCHMARKS.exists() else "# Benchmarks\n"
    begin, end = f"<!-- begin {title} -->", f"<!-- end {title} -->"
    block = "\n".join([begin, "", *lines, end])
    if begin in old:
        head, _, tail = old.partition(begin)
        new = head + block + tail.partition(end)[2]
    else:
        new = f"{old.rstrip()}\n\n## {title}\n\n{block}\n"
    BENCHMARKS.write_text(new, encoding="utf-8")
