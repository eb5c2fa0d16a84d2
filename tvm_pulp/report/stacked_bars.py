"""A picture of where the cycles of a network go: one bar per configuration, one segment per operator and engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

_COLOURS = (
    "#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#eeca3b", "#9d755d", "#bab0ac", "#ff9da6",
    "#2f4b7c", "#a05195",
)  # fmt: skip
_WIDTH, _LEFT, _TOP, _BAR, _GAP, _ROW = 760, 170, 44, 34, 16, 18
# Segments beyond these are drawn together.
_SEGMENTS = len(_COLOURS) - 1
_REST = "everything else"


def stacked_bars(title: str, bars: Mapping[str, Sequence[tuple[str, int]]]) -> str:
    """An SVG. `bars`: by label, the segments with their cycles."""
    totals: dict[str, int] = {}
    for segments in bars.values():
        for name, cycles in segments:
            totals[name] = totals.get(name, 0) + cycles
    kept = sorted(totals, key=lambda n: (-totals[n], n))
    kept = kept if len(kept) <= _SEGMENTS else [*kept[:_SEGMENTS], _REST]
    colours = dict(zip(kept, _COLOURS, strict=False))
    longest = max((sum(c for _, c in segments) for segments in bars.values()), default=1)
    body = [f'<text x="12" y="24" font-size="16">{escape(title)}</text>']
    for row, (label, segments) in enumerate(bars.items()):
        y = _TOP + row * (_BAR + _GAP)
        body.append(f'<text x="{_LEFT - 8}" y="{y + 22}" font-size="12" text-anchor="end">{escape(label)}</text>')
        body += _bar(segments, y, _WIDTH / max(1, longest), colours)
    bottom = _TOP + len(bars) * (_BAR + _GAP)
    for number, name in enumerate(kept):
        x, y = _LEFT + number % 3 * 270, bottom + number // 3 * _ROW
        body.append(f'<rect x="{x}" y="{y}" width="11" height="11" fill="{colours[name]}"/>')
        body.append(f'<text x="{x + 16}" y="{y + 10}" font-size="11">{escape(name)}</text>')
    height = bottom + -(-len(kept) // 3) * _ROW + 12
    size = f'width="{_LEFT + _WIDTH + 110}" height="{height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif">'
    return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *body, "</svg>", ""])


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
        tip = f"<title>{escape(name)}: {cycles:,} cycles</title>"
        shape = f'x="{x:.1f}" y="{y}" width="{width:.1f}" height="{_BAR}"'
        body.append(f'<rect {shape} fill="{colours[name]}">{tip}</rect>')
        x += width
    total = sum(merged.values())
    body.append(f'<text x="{x + 6:.1f}" y="{y + 22}" font-size="12">{total:,}</text>')
    return body
