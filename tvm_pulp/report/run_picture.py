"""A picture of a run: when cores, accelerators and transfers were busy, and with which layer."""

from tvm_pulp.errors import UserError
from tvm_pulp.report.cycle_axis import GROUND, LEFT, TOP, WIDTH, CycleAxis, layer_colour, named_bar, plan_picture
from tvm_pulp.report.html.run_page import RunDetails
from tvm_pulp.report.html.timeline_data import join_neighbours, timeline_data
from tvm_pulp.report.svg import rectangle, text

# Cores are many and do the same.
_LANE, _CORE, _GAP = 26, 12, 6
# What fits into the width of the picture.
_SPANS = 150
_NOTE = "Colours: the layer that is worked on, or that data is moved for. Point at a bar for its cycles."


def run_timeline(details: RunDetails, title: str) -> str:
    """An SVG of the second inference, as it was measured; the same run gives the same bytes."""
    if details.activity is None or details.plan is None:
        raise UserError("this device does not tell when its parts were busy: run on iss, for a SoC with a cluster")
    plan, data = details.plan, timeline_data(details.activity, details.plan, None)
    assert data is not None
    axis, y, body = CycleAxis((), (), data["cycles"]), float(TOP), []
    for lane in data["lanes"]:
        height = _CORE if lane["group"] == "cores" else _LANE
        body.append(rectangle(LEFT, y, WIDTH, height, GROUND))
        body.append(text(LEFT - 8, y + height / 2 + 4, lane["name"], anchor="end"))
        for start, end, layer in join_neighbours([tuple(span) for span in lane["spans"]], _SPANS):
            name = plan.layers[layer].name
            tip = f"{lane['name']}: {name}, cycles {start:,} to {end:,}"
            shown = "" if lane["group"] == "cores" else name
            body += named_bar(axis.x(start), y, axis.x(end) - axis.x(start), height, shown, layer_colour(layer), tip)
        y += height + (2 if lane["group"] == "cores" else _GAP)
    return plan_picture(title, body, y, _NOTE, plan, axis)
