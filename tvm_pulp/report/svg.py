"""Shapes of the reports' pictures, as lines of SVG."""

import math
from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

COLOURS = (
    "#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#eeca3b", "#9d755d", "#bab0ac", "#ff9da6",
    "#2f4b7c", "#a05195",
)  # fmt: skip


def picture(title: str, left: int, width: int, height: int, body: Sequence[str]) -> str:
    """A whole file, white behind everything; the title begins at `left`. In a narrow page it shrinks."""
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}" style="max-width:100%;height:auto"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif">'
    ground = '<rect width="100%" height="100%" fill="white"/>'
    return "\n".join([head, ground, text(left, 24, title, size=16), *body, "</svg>", ""])


def mixed(colour: str, other: str, share: float) -> str:
    """A colour with a share of another in it."""
    parts = [(int(colour[i : i + 2], 16), int(other[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in parts)


def contrast(colour: str) -> str:
    """Black or white, whichever can be read on a colour."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "white" if 0.3 * red + 0.59 * green + 0.11 * blue < 110 else "black"


def rectangle(x: float, y: float, width: float, height: float, colour: str, tip: str = "") -> str:
    """Never too small to be seen; `tip` shows when it is pointed at."""
    shape = f'x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.6):.1f}" height="{max(height, 0.6):.1f}"'
    inside = f"<title>{escape(tip)}</title>" if tip else ""
    return f'<rect {shape} fill={quoteattr(colour)} stroke="white" stroke-width="0.3">{inside}</rect>'


def text(x: float, y: float, words: str, *, size: int = 11, anchor: str = "start", colour: str = "black") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"'
    return f"<text {place} fill={quoteattr(colour)}>{escape(words)}</text>"


def swatches(
    entries: Sequence[tuple[str, str, str]], left: float, top: float, columns: int, step: float, row: int
) -> tuple[list[str], float]:
    """A legend of names with their colours and tips, `columns` of them beside each other; and where it ends."""
    body = []
    for number, (name, colour, tip) in enumerate(entries):
        x, y = left + number % columns * step, top + number // columns * row
        body += [rectangle(x, y, 11, 11, colour, tip), text(x + 16, y + 10, name)]
    return body, top + -(-len(entries) // columns) * row


def round_ticks(low: float, high: float, count: int, steps: Sequence[float] = (1, 2, 5, 10)) -> list[float]:
    """Round figures between two: about so many, as multiples of a power of ten and one of the steps."""
    rough = max((high - low) / count, 1e-9)
    magnitude = 10.0 ** math.floor(math.log10(rough))
    step = next(m * magnitude for m in steps if m * magnitude >= rough)
    return _multiples(low, high, step)


def byte_ticks(size: int, count: int) -> list[float]:
    """The same for bytes, as multiples of a power of two."""
    return _multiples(0, size, 2.0 ** math.ceil(math.log2(max(1, size / count))))


def _multiples(low: float, high: float, step: float) -> list[float]:
    first = math.ceil(low / step - 1e-9)
    return [round(number * step, 10) for number in range(first, math.floor(high / step + 1e-9) + 1)]


def line(x1: float, y1: float, x2: float, y2: float) -> str:
    """A tick of an axis."""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#888"/>'
