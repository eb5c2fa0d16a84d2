"""The common part of all pictures of a plan: expected cycles to the right, one colour per layer, the legend below."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from tvm_pulp.planning.program.plan_record import LayerJson, PlanJson
from tvm_pulp.report.svg import COLOURS, contrast, line, mixed, picture, rectangle, round_ticks, swatches, text

WIDTH, LEFT, TOP = 1200, 90, 40
GROUND, NO_LAYER = "#f4f4f4", "#d8d8d8"
_NAME_SIZE, _TICKS = 10, 6
# Room for the last figure.
_WHOLE = 130
_LEGEND_COLUMNS, _LEGEND_ROW, _LEGEND_NAME = 6, 16, 30


@dataclass(frozen=True)
class CycleAxis:
    """Time of a plan: when every step of its program begins, in cycles."""

    positions: Sequence[int]
    starts: Sequence[int]
    cycles: int

    @staticmethod
    def of(plan: PlanJson, starts: Sequence[int], cycles: int) -> "CycleAxis":
        """The axis of a described plan; `starts` has one entry for each step of the program."""
        known = [(s.position, at) for s, at in zip(plan.program, starts, strict=True) if s.position is not None]
        return CycleAxis([position for position, _ in known], [at for _, at in known], cycles)

    def span(self, alive: Sequence[int]) -> tuple[int, int]:
        """Cycles in which something lives that is alive in positions of the schedule, both included."""
        first, last = bisect_left(self.positions, alive[0]), bisect_right(self.positions, alive[1])
        # What the first step needs is fetched before it.
        begin = 0 if alive[0] <= 0 else self.starts[first] if first < len(self.starts) else self.cycles
        return begin, self.starts[last] if last < len(self.starts) else self.cycles

    def x(self, cycle: float) -> float:
        return LEFT + cycle * WIDTH / max(1, self.cycles)

    def ticks(self, y: float) -> list[str]:
        """Ticks with round figures below a picture, and the whole at its end."""
        whole = f"{self.cycles:,} cycles"
        found = [line(LEFT + WIDTH, y, LEFT + WIDTH, y + 4), text(LEFT + WIDTH, y + 16, whole, anchor="end")]
        for cycle in round_ticks(0, self.cycles, _TICKS):
            x = self.x(cycle)
            found.append(line(x, y, x, y + 4))
            if x < LEFT + WIDTH - _WHOLE:
                found.append(text(x, y + 16, f"{cycle:,.0f}", anchor="middle" if cycle else "start"))
        return found


def layer_colour(layer: int | None) -> str:
    """Colours of twelve layers, then the same in other shades; grey belongs to no layer."""
    if layer is None:
        return NO_LAYER
    base, shade = COLOURS[layer % len(COLOURS)], layer // len(COLOURS) % 3
    return (base, mixed(base, "#ffffff", 0.45), mixed(base, "#000000", 0.35))[shade]


def plan_picture(title: str, body: Sequence[str], bottom: float, note: str, plan: PlanJson, axis: CycleAxis) -> str:
    """An SVG of `body`, which ends at `bottom`: ticks, a sentence on how to read it and the colours of layers below."""
    entries = []
    for number, name in enumerate(layer.name for layer in plan.layers):
        shown = name if len(name) <= _LEGEND_NAME else f"{name[:11]}…{name[12 - _LEGEND_NAME :]}"
        entries.append((shown, layer_colour(number), name))
    top = bottom + 24
    step = WIDTH / _LEGEND_COLUMNS
    names, end = swatches(entries, LEFT, top + _LEGEND_ROW + 4, _LEGEND_COLUMNS, step, _LEGEND_ROW)
    whole = [*body, *axis.ticks(bottom), text(LEFT, top + 10, note), *names]
    return picture(title, LEFT, LEFT + WIDTH + 20, int(end) + 8, whole)


def named_bar(x: float, y: float, width: float, height: float, name: str, colour: str, tip: str) -> list[str]:
    """A rectangle with a tip, and its name inside if it has room for it."""
    body = [rectangle(x, y, width, height, colour, tip)]
    if height >= _NAME_SIZE + 2 and width >= 0.62 * _NAME_SIZE * len(name) + 4:
        middle, look = y + height / 2 + _NAME_SIZE / 3, contrast(colour)
        body.append(text(x + width / 2, middle, name, size=_NAME_SIZE, anchor="middle", colour=look))
    return body


def nodes_of(layer: LayerJson) -> str:
    """` (of a, b)`: nodes of the model file behind a layer, where its name does not say it all."""
    nodes = layer.nodes
    return f" (of {', '.join(nodes)})" if nodes and nodes != (layer.name,) else ""
