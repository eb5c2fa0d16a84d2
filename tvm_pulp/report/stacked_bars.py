"""A picture of where the cycles of a network go: one bar per configuration, one segment per operator and engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tvm_pulp.report.svg import COLOURS, picture, rectangle, text

_WIDTH, _LEFT, _TOP, _BAR, _GAP, _ROW = 760, 170, 44, 34, 16, 18
# Segments beyond these are drawn together.
_SEGMENTS = len(COLOURS) - 1
_REST = "everything else"


def stacked_bars(title: str, bars: Mapping[str, Sequence[tuple[str, int]]]) -> str:
    """An SVG. `bars`: by label, the segments with their cycles."""
    totals: dict[str, int] = {}
    for segments in bars.values():
        for name, cycles in segments:
            totals[name] = totals.get(name, 0) + cycles
    kept = sorted(totals, key=lambda n: (-totals[n], n))
    kept = kept if len(kept) <= _SEGMENTS else [*kept[:_SEGMENTS], _REST]
    colours = dict(zip(kept, COLOURS, strict=False))
    longest = max((sum(c for _, c in segments) for segments in bars.values()), default=1)
    body = []
    for row, (label, segments) in enumerate(bars.items()):
        y = _TOP + row * (_BAR + _GAP)
        body.append(text(_LEFT - 8, y + 22, label, size=12, anchor="end"))
        body += _bar(segments, y, _WIDTH / max(1, longest), colours)
    bottom = _TOP + len(bars) * (_BAR + _GAP)
    for number, name in enumerate(kept):
        x, y = _LEFT + number % 3 * 270, bottom + number // 3 * _ROW
        body += [rectangle(x, y, 11, 11, colours[name]), text(x + 16, y + 10, name)]
    height = bottom + -(-len(kept) // 3) * _ROW + 12
    return picture(title, 12, _LEFT + _WIDTH + 110, height, body)


def _bar(segments: Sequence[tuple[str, int]], y: int, across: float, colours: Mapping[str, str]) -> list[str]:
    """One bar, largest colours first, its total behind it."""
    merged: dict[str, int] = {}
    for name, cycles in segments:
        name = name if name in colours else _REST
        merged[name] = merged.get(name, 0) + cycles
    body = []
    x = float(_LEFT)
    for name in colours:
        cycles = merged.get(name, 0)
        if not cycles:
            continue
        width = cycles * across
        body.append(rectangle(x, y, width, _BAR, colours[name], f"{name}: {cycles:,} cycles"))
        x += width
    total = sum(merged.values())
    body.append(text(x + 6, y + 22, f"{total:,}", size=12))
    return body
