"""A plan for a CPU by itself as a table and as a picture of its memory: forms and places, layer by layer."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TextIO

from tvm_pulp.codegen.formats import CpuPlanJson, to_json
from tvm_pulp.output_files import write_outputs
from tvm_pulp.report.cycle_axis import GROUND, LEFT, TOP, WIDTH, layer_colour, named_bar
from tvm_pulp.report.fitted_table import print_fitted, print_wrapped
from tvm_pulp.report.plan_pictures import HEIGHT, byte_axis
from tvm_pulp.report.svg import picture, rectangle, text

_WORDS = ("layer", "op", "form", "result in")
_COLUMNS = (*_WORDS, "MAC", "constants", "result", "work", "alive")
_NOTE = "Layers to the right, addresses upwards; light grey is free. Point at a buffer for its place."


def cpu_plan_rows(plan: CpuPlanJson) -> Iterator[tuple[str, ...]]:
    """One row of texts per layer, or part of one."""
    layers, constants = {layer.name: layer for layer in plan.layers}, {c.name: c.bytes for c in plan.constants}
    places = _places(plan)
    for step in plan.program:
        layer = layers[step.layer]
        alive = sum(b.bytes for b in plan.buffers if b.alive[0] <= step.moment <= b.alive[1])
        yield (
            step.name,
            layer.op,
            layer.form,
            places[step.writes[0].tensor] if step.writes else "-",
            f"{step.macs:,}" if step.macs else "-",
            f"{sum(constants.get(name, 0) for name in {touch.tensor for touch in step.reads}):,}",
            f"{sum(touch.bytes for touch in step.writes):,}",
            f"{sum(touch.bytes for touch in step.work):,}",
            f"{alive:,}",
        )


def _places(plan: CpuPlanJson) -> Mapping[str, str]:
    """Places of tensors: buffers of the caller, or offsets in the arena, perhaps those of others."""
    places = {end.name: "input" for end in plan.inputs} | {end.name: "output" for end in plan.outputs}
    for held in plan.tensors:
        taken = "" if held.buffer == held.name else f", place of {held.buffer}"
        places[held.name] = f"arena + {held.offset}{taken}"
    return places


def print_cpu_plan(plan: CpuPlanJson, stack: int, stream: TextIO) -> None:
    """Table of layers and a line of totals; `stack`: bytes of it, 0 where an operating system brings one."""
    print_fitted(f"program for {plan.soc}", _COLUMNS, list(cpu_plan_rows(plan)), len(_WORDS), stream)
    ends = sum(end.bytes for end in (*plan.inputs, *plan.outputs))
    stacks = f", stack {stack:,}" if stack else ""
    constants = sum(constant.bytes for constant in plan.constants)
    print_wrapped(
        f"RAM: activations {plan.arena_bytes:,} (largest live set {plan.largest_live_set:,}), inputs and outputs "
        f"{ends:,}{stacks}; constants {constants:,} bytes; {sum(step.macs for step in plan.program):,} MAC",
        stream,
    )


def write_cpu_pictures(folder: Path, plan: CpuPlanJson) -> None:
    """plan.json, and the arena over time."""
    texts = {"plan.json": to_json(CpuPlanJson, plan), "memory.svg": arena_picture(plan)}
    write_outputs(folder, {name: content.encode() for name, content in texts.items()})


def makers_in(plan: CpuPlanJson) -> dict[str, int]:
    """Tensors of the arena by name, with the step that writes each first or works in it."""
    makers: dict[str, int] = {}
    for number, step in enumerate(plan.program):
        for touch in (*step.writes, *step.work):
            makers.setdefault(touch.tensor, number)
    return makers


def arena_picture(plan: CpuPlanJson) -> str:
    """An SVG: one rectangle per buffer, from the first layer that uses it to the last, in the colour of its maker."""
    title, moments = f"Activations: {plan.arena_bytes:,} bytes", moments_of(plan)
    makers, names = makers_in(plan), [step.name for step in plan.program]
    step, up = WIDTH / moments, HEIGHT / max(1, plan.arena_bytes)
    body = [rectangle(LEFT, TOP, WIDTH, HEIGHT, GROUND)]
    for buffer in plan.buffers:
        first, last = buffer.alive[0], min(buffer.alive[1], moments - 1)
        inside = [s.name for s in plan.program if first <= s.moment <= last]
        tip = f"{buffer.name}: {buffer.bytes:,} bytes at {buffer.offset:,}, layers {inside[0]} to {inside[-1]}"
        x, width = LEFT + first * step, (last + 1 - first) * step
        y = TOP + HEIGHT - (buffer.offset + buffer.bytes) * up
        maker = makers.get(buffer.name, names.index(inside[0]))
        body += named_bar(x, y, width, buffer.bytes * up, buffer.name, layer_colour(maker), tip)
    body += byte_axis(plan.arena_bytes)
    # Numbers of layers where they have room.
    for number in range(0, moments, max(1, round(30 / step))):
        body.append(text(LEFT + (number + 0.5) * step, TOP + HEIGHT + 16, f"{number + 1}", anchor="middle"))
    body.append(text(LEFT, TOP + HEIGHT + 34, _NOTE))
    return picture(title, LEFT, LEFT + WIDTH + 20, TOP + HEIGHT + 44, body)


def moments_of(plan: CpuPlanJson) -> int:
    """Number of moments, of which there is one at least."""
    return max((step.moment for step in plan.program), default=0) + 1
