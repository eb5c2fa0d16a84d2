"""A program for a CPU by itself as a table and as a picture of its memory: functions and places, layer by layer."""

from collections.abc import Iterator, Mapping
from typing import TextIO

from tvm_pulp.planning.cpu import CpuPlan
from tvm_pulp.planning.tiling.place.arena import Arena
from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.report.cycle_axis import GROUND, LEFT, TOP, WIDTH, layer_colour, named_bar
from tvm_pulp.report.fitted_table import print_fitted, print_wrapped
from tvm_pulp.report.plan_pictures import HEIGHT, byte_axis
from tvm_pulp.report.svg import picture, rectangle, text

_WORDS = ("layer", "op", "form", "function", "result in")
_COLUMNS = (*_WORDS, "MAC", "constants", "result", "work", "alive")
_NOTE = "Layers to the right, addresses upwards; light grey is free. Point at a buffer for its place."


def cpu_plan_rows(made: CpuPlan, functions: Mapping[Layer, str]) -> Iterator[tuple[str, ...]]:
    """One row of texts per layer; `functions`: names of C functions."""
    alive = [sum(b.size for b in made.arena.buffers if b.first <= i <= b.last) for i in range(len(made.network.layers))]
    for number, planned in enumerate(made.layers):
        layer = planned.called
        constants = {t.storage for t in layer.inputs if t.storage.kind == "constant"}
        yield (
            layer.name,
            layer.operator,
            planned.form,
            functions[layer],
            _place(layer, made.arena),
            f"{layer.macs:,}" if layer.macs else "-",
            f"{sum(t.spec.bytes for t in constants):,}",
            f"{sum(t.spec.bytes for t in layer.outputs):,}",
            f"{sum(t.spec.bytes for t in layer.workspaces):,}",
            f"{alive[number]:,}",
        )


def _place(layer: Layer, arena: Arena) -> str:
    """Place of the result: in a buffer of the caller, or at an offset, perhaps that of an operand."""
    storage = layer.outputs[0].storage
    if storage not in arena.offsets:
        return storage.kind
    offset = arena.offsets[storage]
    own = any(buffer.key is storage for buffer in arena.buffers)
    operands = [t.storage.name for t in layer.inputs if arena.offsets.get(t.storage) == offset]
    return f"arena + {offset}" if own or not operands else f"arena + {offset}, place of {operands[0]}"


def print_cpu_plan(made: CpuPlan, functions: Mapping[Layer, str], stream: TextIO) -> None:
    """Table of layers and a line of totals."""
    cpu = made.request.cpu
    stack = cpu.stack_bytes if cpu is not None and cpu.hal else 0
    print_fitted(f"program for {made.request.soc}", _COLUMNS, list(cpu_plan_rows(made, functions)), len(_WORDS), stream)
    arena = made.arena
    ends = sum(t.spec.bytes for t in (*made.network.inputs, *made.network.outputs))
    stacks = f", stack {stack:,}" if stack else ""
    print_wrapped(
        f"RAM: activations {arena.size:,} (largest live set {arena.largest_live_set:,}), inputs and outputs {ends:,}"
        f"{stacks}; constants {made.constant_bytes:,} bytes; {sum(layer.macs for layer in made.network.layers):,} MAC",
        stream,
    )


def arena_picture(made: CpuPlan) -> str:
    """An SVG: one rectangle per buffer, from the first layer that uses it to the last, in the colour of its maker."""
    arena, layers = made.arena, made.network.layers
    title = f"Activations: {arena.size:,} bytes"
    makers = {t.storage: number for number, layer in reversed(list(enumerate(layers))) for t in layer.outputs}
    step, up = WIDTH / max(1, len(layers)), HEIGHT / max(1, arena.size)
    body = [rectangle(LEFT, TOP, WIDTH, HEIGHT, GROUND)]
    for buffer in arena.buffers:
        key, offset = buffer.key, arena.offsets[buffer.key]
        name = key.name if isinstance(key, Tensor) else str(key)
        tip = (
            f"{name}: {buffer.size:,} bytes at {offset:,}, layers {layers[buffer.first].name} to "
            f"{layers[buffer.last].name}"
        )
        maker = makers.get(key, buffer.first) if isinstance(key, Tensor) else buffer.first
        x, width = LEFT + buffer.first * step, (buffer.last + 1 - buffer.first) * step
        y = TOP + HEIGHT - (offset + buffer.size) * up
        body += named_bar(x, y, width, buffer.size * up, name, layer_colour(maker), tip)
    body += byte_axis(arena.size)
    # Numbers of layers where they have room.
    for number in range(0, len(layers), max(1, round(30 / step))):
        body.append(text(LEFT + (number + 0.5) * step, TOP + HEIGHT + 16, f"{number + 1}", anchor="middle"))
    body.append(text(LEFT, TOP + HEIGHT + 34, _NOTE))
    return picture(title, LEFT, LEFT + WIDTH + 20, TOP + HEIGHT + 44, body)
