"""Pictures of a plan: which bytes of a memory hold what over time."""

from __future__ import annotations

from collections.abc import Sequence

from tvm_pulp.planning.program.actions import Begin, operands_of
from tvm_pulp.planning.program.plan_record import Place, PlanJson
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
from tvm_pulp.report.svg import line, picture, rectangle, text

_HEIGHT = 420
_NOTE = "Colours: the layer that makes or fetches a buffer; light grey is free. Point at a buffer for its place."


def memory_map(
    title: str, blocks: Sequence[Place], layers: Sequence[int | None], size: int, plan: PlanJson, axis: CycleAxis
) -> str:
    """An SVG: expected cycles to the right, addresses upwards, one rectangle per block in the colour of its layer."""
    body = [rectangle(LEFT, TOP, WIDTH, _HEIGHT, GROUND)]
    up = _HEIGHT / max(1, size)
    for block, layer in zip(blocks, layers, strict=True):
        first, last = block.alive
        begin, end = axis.span(block.alive)
        x, width = axis.x(begin), axis.x(end) - axis.x(begin)
        y, height = TOP + _HEIGHT - (block.offset + block.bytes) * up, block.bytes * up
        whose = "" if layer is None else f" of {plan.layers[layer].name}"
        label = (
            f"{block.name}{whose}: {block.bytes:,} bytes at {block.offset:,}, cycles {begin:,} to {end:,}, "
            f"steps {max(0, first) // 3} to {last // 3}{'' if layer is None else nodes_of(plan.layers[layer])}"
        )
        colour = layer_colour(layer)
        body.append(rectangle(x, y, width, height, colour, label))
        body += name_inside(x, y, width, height, block.name, colour)
    for part in range(5):
        y = TOP + _HEIGHT - part * _HEIGHT / 4
        body.append(line(LEFT - 4, y, LEFT, y))
        body.append(text(LEFT - 6, y + 4, f"{size * part // 4:,}", anchor="end"))
    body.append(text(LEFT - 6, TOP - 12, "bytes", anchor="end"))
    body += axis.ticks(TOP + _HEIGHT)
    names, end_of_names = legend([layer.name for layer in plan.layers], TOP + _HEIGHT + 24, _NOTE)
    return picture(title, LEFT, LEFT + WIDTH + 20, int(end_of_names) + 8, [*body, *names])


def memory_maps(plan: PlanJson, axis: CycleAxis) -> dict[str, str]:
    """SVGs by memory level: L1 with all blocks, L2 with activations and what L3 sends."""
    blocks, tensors, size = plan.blocks, plan.l2.tensors, plan.l2.size
    makers = {output.name: i for i, layer in enumerate(plan.layers) for output in layer.outputs}
    owners = [first_writer(plan, block) for block in blocks]
    made = [makers.get(tensor.name, _first_reader(plan, tensor.name)) for tensor in tensors]
    l1_title = f"L1: {plan.l1_peak:,} of {plan.l1_bytes:,} bytes"
    return {
        "l1": memory_map(l1_title, blocks, owners, plan.l1_bytes, plan, axis),
        "l2": memory_map(f"L2 activations: {size:,} bytes", tensors, made, size, plan, axis),
    }


def first_writer(plan: PlanJson, block: Place) -> int | None:
    """The layer whose step first writes into a block of L1 while it lives."""
    begin, end = block.offset, block.offset + block.bytes
    for step in plan.program:
        # What the first step needs is fetched before it, at position -1.
        first = block.alive[0] or -1
        if step.position is None or not first <= step.position <= block.alive[1]:
            continue
        for action in (a for a in step.actions if not isinstance(a, Begin)):
            for access in action.writes:
                if access.space == "L1" and access.start < end and begin < access.start + access.bytes:
                    return action.layer
    return None


def _first_reader(plan: PlanJson, name: str) -> int | None:
    """The layer that first fetches a constant which no layer makes; None for an input of the network."""
    if name in plan.inputs:
        return None
    for step in plan.program:
        for action in (a for a in step.actions if not isinstance(a, Begin)):
            if any(access.content.split("[")[0] == name for access in operands_of(action)):
                return action.layer
    return None
