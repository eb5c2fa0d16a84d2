"""A picture of when cores, DMA and accelerators are expected to be busy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tvm_pulp.planning.program.plan_record import PlanJson
from tvm_pulp.report.cycle_axis import (
    GROUND,
    LEFT,
    TOP,
    WIDTH,
    CycleAxis,
    layer_colour,
    legend,
    name_inside,
    nodes_of,
)
from tvm_pulp.report.svg import picture, rectangle, text

_LANE = 44


def timeline(plan: PlanJson, spans: Sequence[Any], axis: CycleAxis) -> str:
    """An SVG: one lane each for cores, loads, stores, L3 and accelerators, expected cycles to the right."""
    lanes = list(dict.fromkeys(["cores", *(s.resource for s in spans)]))
    body = []
    for row, name in enumerate(lanes):
        y = TOP + row * _LANE
        body.append(text(LEFT - 6, y + 22, name, size=12, anchor="end"))
        body.append(rectangle(LEFT, y, WIDTH, _LANE - 8, GROUND))
    for span in spans:
        y = TOP + lanes.index(span.resource) * _LANE
        layer = plan.layers[span.layer].name
        nodes = nodes_of(plan.layers[span.layer])
        label = f"{layer}: {span.name}, cycles {span.start:,} to {span.end:,}{nodes}"
        x, height = axis.x(span.start), _LANE - 8
        width = axis.x(span.end) - x
        colour = layer_colour(span.layer)
        body.append(rectangle(x, y, width, height, colour, label))
        body += name_inside(x, y, width, height, layer, colour)
    bottom = TOP + len(lanes) * _LANE
    body += axis.ticks(bottom)
    note = "One colour per layer; grey is idle. Point at a bar for its layer, what it does and when."
    names, end = legend([layer.name for layer in plan.layers], bottom + 24, note)
    return picture("Expected schedule", LEFT, LEFT + WIDTH + 20, int(end) + 8, [*body, *names])
