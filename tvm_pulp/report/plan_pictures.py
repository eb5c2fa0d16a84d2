"""Pictures of a plan: the contents of memories over time, and when everybody is expected to be busy."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tvm_pulp.codegen.formats import to_json
from tvm_pulp.output_files import write_outputs
from tvm_pulp.planning.estimate import estimate_program
from tvm_pulp.planning.program.actions import Access, Begin, operands_of
from tvm_pulp.planning.program.plan_record import PlaceJson, PlanJson
from tvm_pulp.planning.program.positions import next_slot
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
from tvm_pulp.report.svg import byte_ticks, line, picture, rectangle, text
from tvm_pulp.soc.cost_model import CostModel


def plan_pictures(plan: PlanJson, costs: CostModel) -> dict[str, str]:
    """SVGs: the expected schedule as `timeline`, and one per memory level."""
    expected = estimate_program(plan.program, len(plan.layers), costs)
    axis = CycleAxis.of(plan, expected.step_starts, expected.cycles)
    return {"timeline": timeline(plan, expected.spans, axis), **memory_maps(plan, axis)}


def write_pictures(folder: Path, plan: PlanJson, costs: CostModel) -> None:
    """plan.json, one SVG per memory level, the expected schedule as timeline.svg."""
    texts = {"plan.json": to_json(PlanJson, plan)}
    texts |= {f"{name}.svg": svg for name, svg in plan_pictures(plan, costs).items()}
    write_outputs(folder, {name: content.encode() for name, content in texts.items()})


HEIGHT = 420
_NOTE = "Colours: the layer that makes or fetches a buffer; light grey is free. Point at a buffer for its place."


def memory_map(
    title: str, blocks: Sequence[PlaceJson], layers: Sequence[int | None], size: int, plan: PlanJson, axis: CycleAxis
) -> str:
    """An SVG: expected cycles to the right, addresses upwards, one rectangle per block in the colour of its layer."""
    if not blocks:
        return picture(title, LEFT, LEFT + WIDTH + 20, TOP + 16, [text(LEFT, TOP, "Nothing lies there at any time.")])
    body = [rectangle(LEFT, TOP, WIDTH, HEIGHT, GROUND)]
    up = HEIGHT / max(1, size)
    for block, layer in zip(blocks, layers, strict=True):
        first, last = block.alive
        begin, end = axis.span(block.alive)
        x, width = axis.x(begin), axis.x(end) - axis.x(begin)
        y, height = TOP + HEIGHT - (block.offset + block.bytes) * up, block.bytes * up
        whose = "" if layer is None else f" of {plan.layers[layer].name}"
        nodes = "" if layer is None else nodes_of(plan.layers[layer])
        label = (
            f"{block.name}{whose}: {block.bytes:,} bytes at {block.offset:,}, cycles {begin:,} to {end:,}, "
            f"steps {next_slot(max(0, first))} to {next_slot(last)}{nodes}"
        )
        body += named_bar(x, y, width, height, block.name, layer_colour(layer), label)
    return plan_picture(title, [*body, *byte_axis(size)], TOP + HEIGHT, _NOTE, plan, axis)


def byte_axis(size: int) -> list[str]:
    """Ticks with round numbers of bytes at the left of the picture of a memory."""
    found, up = [], HEIGHT / max(1, size)
    for place in byte_ticks(size, 5):
        y = TOP + HEIGHT - place * up
        found.append(line(LEFT - 4, y, LEFT, y))
        found.append(text(LEFT - 6, y + 4, f"{place / 1024:,.6g} KiB" if place >= 1024 else f"{place:g}", anchor="end"))
    return found


def memory_maps(plan: PlanJson, axis: CycleAxis) -> dict[str, str]:
    """SVGs by memory level: L1 with all blocks, L2 with activations and what L3 sends."""
    tensors, size = plan.l2.tensors, plan.l2.size
    makers = makers_of(plan)
    owners = [first_writer(plan, block) for block in plan.blocks]
    made = [makers.get(tensor.name, _first_reader(plan, tensor.name)) for tensor in tensors]
    l1_title = f"L1: {plan.l1_peak:,} of {plan.l1_bytes:,} bytes"
    return {
        "l1": memory_map(l1_title, plan.blocks, owners, plan.l1_bytes, plan, axis),
        "l2": memory_map(f"L2 activations: {size:,} bytes", tensors, made, size, plan, axis),
    }


def accesses_of(plan: PlanJson) -> Iterator[tuple[int, Access]]:
    """Everything that steps touch, in their order, with the layer that it is touched for."""
    for action in (a for step in plan.program for a in step.actions if not isinstance(a, Begin)):
        for access in operands_of(action):
            yield action.layer, access


def makers_of(plan: PlanJson) -> dict[str, int]:
    """Numbers of the layers that make tensors, by the tensors' names."""
    return {output.name: i for i, layer in enumerate(plan.layers) for output in layer.outputs}


def first_writer(plan: PlanJson, block: PlaceJson) -> int | None:
    """The layer whose step first writes into a block of L1 while it lives."""
    begin, end = block.offset, block.offset + block.bytes
    # What the first step needs is fetched before it, at position -1.
    first, last = block.alive[0] or -1, block.alive[1]
    writers = (
        action.layer
        for step in plan.program
        if step.position is not None and first <= step.position <= last
        for action in step.actions
        if not isinstance(action, Begin)
        for access in action.writes
        if access.space == "L1" and access.start < end and begin < access.start + access.bytes
    )
    return next(writers, None)


def _first_reader(plan: PlanJson, name: str) -> int | None:
    """The layer that first fetches a constant which no layer makes; None for an input of the network."""
    readers = (layer for layer, access in accesses_of(plan) if access.content.split("[")[0] == name)
    return None if name in plan.inputs else next(readers, None)


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
