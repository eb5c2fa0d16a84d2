"""A picture of where the cycles of a network go: one bar per configuration, one segment per operator and engine."""

from collections.abc import Mapping, Sequence

from tvm_pulp.report.figures import summed
from tvm_pulp.report.svg import COLOURS, picture, rectangle, swatches, text

_WIDTH, _LEFT, _TOP, _BAR, _GAP, _ROW = 760, 170, 44, 34, 16, 18
# Segments beyond these are drawn together.
_SEGMENTS = len(COLOURS) - 1
_REST = "everything else"


def stacked_bars(title: str, bars: Mapping[str, Sequence[tuple[str, int]]]) -> str:
    """An SVG. `bars`: by label, the segments with their cycles."""
    totals = summed(segment for segments in bars.values() for segment in segments)
    kept = sorted(totals, key=lambda n: (-totals[n], n))
    kept = kept if len(kept) <= _SEGMENTS else [*kept[:_SEGMENTS], _REST]
    colours = dict(zip(kept, COLOURS, strict=False))
    longest = max((sum(c for _, c in segments) for segments in bars.values()), default=1)
    body = []
    for row, (label, segments) in enumerate(bars.items()):
        y = _TOP + row * (_BAR + _GAP)
        body.append(text(_LEFT - 8, y + 22, label, size=12, anchor="end"))
        body += _bar(segments, y, _WIDTH / max(1, longest), colours)
    entries = [(name, colours[name], "") for name in kept]
    names, end = swatches(entries, _LEFT, _TOP + len(bars) * (_BAR + _GAP), 3, 270, _ROW)
    return picture(title, 12, _LEFT + _WIDTH + 110, int(end) + 12, [*body, *names])


def _bar(segments: Sequence[tuple[str, int]], y: int, across: float, colours: Mapping[str, str]) -> list[str]:
    """One bar, largest colours first, its total behind it."""
    merged = summed((name if name in colours else _REST, cycles) for name, cycles in segments)
    body, x = [], float(_LEFT)
    for name in (name for name in colours if merged.get(name)):
        width = merged[name] * across
        body.append(rectangle(x, y, width, _BAR, colours[name], f"{name}: {merged[name]:,} cycles"))
        x += width
    return [*body, text(x + 6, y + 22, f"{sum(merged.values()):,}", size=12)]
