"""A picture of points over two figures: one colour per group, a tip for each, a line through some."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from tvm_pulp.report.svg import COLOURS, line, picture, rectangle, round_ticks, swatches, text

_LEFT, _TOP, _WIDTH, _HEIGHT, _MARGIN, _ROW = 96, 44, 620, 300, 14, 18
_TICKS = 7


@dataclass(frozen=True)
class Dot:
    """A point, its group, and what is told when it is pointed at."""

    x: float
    y: float
    group: str = ""
    tip: str = ""
    # The line of its group goes through it.
    joined: bool = False


def scatter(title: str, dots: Sequence[Dot], across: str, upwards: str, *, from_zero: bool = False) -> str:
    """An SVG; `across` and `upwards` say what the axes mean, in which unit. Joined dots are larger than others."""
    groups = list(dict.fromkeys(dot.group for dot in dots))
    colours = {group: COLOURS[number % len(COLOURS)] for number, group in enumerate(groups)}
    x_axis = _Axis([dot.x for dot in dots], _LEFT + _MARGIN, _WIDTH - 2 * _MARGIN, False)
    y_axis = _Axis([dot.y for dot in dots], _TOP + _HEIGHT - _MARGIN, -(_HEIGHT - 2 * _MARGIN), from_zero)
    body = [rectangle(_LEFT, _TOP, _WIDTH, _HEIGHT, "#f4f4f4")]
    for value in x_axis.ticks():
        body.append(line(x_axis.at(value), _TOP + _HEIGHT, x_axis.at(value), _TOP + _HEIGHT + 4))
        body.append(text(x_axis.at(value), _TOP + _HEIGHT + 17, f"{value:,.10g}", anchor="middle"))
    for value in y_axis.ticks():
        body.append(line(_LEFT - 4, y_axis.at(value), _LEFT, y_axis.at(value)))
        body.append(text(_LEFT - 7, y_axis.at(value) + 4, f"{value:,.10g}", anchor="end"))
    body.append(text(_LEFT + _WIDTH, _TOP + _HEIGHT + 34, across, anchor="end"))
    body.append(text(_LEFT, _TOP - 7, upwards))
    drawn: set[tuple[str, str]] = set()
    for group in groups:
        joined = sorted((dot for dot in dots if dot.group == group and dot.joined), key=lambda dot: dot.x)
        places = [f"{x_axis.at(dot.x):.1f},{y_axis.at(dot.y):.1f}" for dot in joined]
        parts = set(itertools.pairwise(places))
        # A line that lies on another is seen beside it: its gaps show the one below.
        gaps = ' stroke-dasharray="7 7"' if parts & drawn else ""
        drawn |= parts
        if parts:
            look = f'fill="none" stroke="{colours[group]}" stroke-width="1.5"{gaps}'
            body.append(f'<polyline points="{" ".join(places)}" {look}/>')
    for dot in dots:
        place = f'cx="{x_axis.at(dot.x):.1f}" cy="{y_axis.at(dot.y):.1f}" r="{5 if dot.joined else 3.5}"'
        look = f'fill={quoteattr(colours[dot.group])} fill-opacity="{0.95 if dot.joined else 0.55}"'
        body.append(f"<circle {place} {look}><title>{escape(dot.tip)}</title></circle>")
    named = [(group, colours[group], "") for group in groups if group]
    names, end = swatches(named, _LEFT, _TOP + _HEIGHT + 46, 3, 210, _ROW)
    return picture(title, _LEFT, _LEFT + _WIDTH + 24, int(end) + 8, [*body, *names])


class _Axis:
    """From figures to places of the picture."""

    def __init__(self, values: Sequence[float], start: float, length: float, from_zero: bool) -> None:
        low, high = (min(values), max(values)) if values else (0.0, 1.0)
        low = min(low, 0.0) if from_zero else low
        self._low, self._high = (low - 0.5, high + 0.5) if high == low else (low, high)
        self._start, self._length = start, length

    def at(self, value: float) -> float:
        return self._start + (value - self._low) * self._length / (self._high - self._low)

    def ticks(self) -> list[float]:
        """Round figures inside the axis."""
        return round_ticks(self._low, self._high, _TICKS)
