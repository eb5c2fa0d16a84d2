"""A picture of when cores, DMA and accelerators are expected to be busy."""

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
    named_bar,
    nodes_of,
    plan_picture,
)
from tvm_pulp.report.svg import rectangle, text

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
        layer, x = plan.layers[span.layer], axis.x(span.start)
        label = f"{layer.name}: {span.name}, cycles {span.start:,} to {span.end:,}{nodes_of(layer)}"
        width, colour = axis.x(span.end) - x, layer_colour(span.layer)
        body += named_bar(x, y, width, _LANE - 8, layer.name, colour, label)
    note = "One colour per layer; grey is idle. Point at a bar for its layer, what it does and when."
    return plan_picture("Expected schedule", body, TOP + len(lanes) * _LANE, note, plan, axis)
