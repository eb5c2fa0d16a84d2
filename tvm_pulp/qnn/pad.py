"""Constant padding of every axis."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.elementwise import over
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, register
from tvm_pulp.qnn.tiles import Box, Part, TileAxis, TileRule, Whole
from tvm_pulp.quick_records import changed, quick_record


def _axes(whole: Whole) -> tuple[TileAxis, ...]:
    """All axes; every part needs something of the input, so those of a padded axis are longer than its padding."""
    shape, a = whole.output.shape, PadAttributes.of(whole)
    steps = [_step(*sizes) for sizes in zip(shape, a.before, a.after, strict=True)]
    return tuple(TileAxis(axis, step) for axis, step in enumerate(steps) if step < shape[axis] or step == 1)


def _step(size: int, before: int, after: int) -> int:
    """The shortest length of parts of which the last is longer than the padding too."""
    lengths = range(max(before, after) + 1 if before or after else 1, size)
    return next((n for n in lengths if size % n == 0 or size % n > after), max(1, size))


def _part(whole: Whole, box: Box) -> Part:
    a, starts, sizes, before, after = PadAttributes.of(whole), [], [], [], []
    for axis, extent in enumerate(whole.inputs[0].shape):
        made, lead = box.span(axis), a.before[axis]
        inner = max(0, made.start - lead), min(extent, made.stop - lead)
        starts.append(inner[0])
        sizes.append(inner[1] - inner[0])
        before.append(max(0, lead - made.start))
        after.append(max(0, made.stop - lead - extent))
    return Part((Box(tuple(starts), tuple(sizes)),), changed(a, before=tuple(before), after=tuple(after)))


@quick_record(kw_only=True, slots=False)
class PadAttributes(Attributes):
    """One number per axis."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    value: int | float


@register("pad", attributes=PadAttributes, tile=TileRule(_axes, _part))
class Pad(Operator[PadAttributes]):
    def infer(self, attributes: PadAttributes, inputs: Specs) -> TensorSpec:
        sides = zip(inputs[0].shape, attributes.before, attributes.after, strict=True)
        return TensorSpec(tuple(d + b + a for d, b, a in sides), inputs[0].dtype)

    def reference(self, attributes: PadAttributes, inputs: Arrays) -> np.ndarray:
        sides = list(zip(attributes.before, attributes.after, strict=True))
        return np.pad(inputs[0], sides, constant_values=attributes.value)

    def body(self, loops: Loops, attributes: PadAttributes, inputs: Specs, output: TensorSpec) -> None:
        value = tirx.const(attributes.value, output.dtype)
        x, y = loops.buffer("x", inputs[0]), loops.buffer("y", output)
        before, after = attributes.before, attributes.after
        if len(output.shape) < 2 or math.prod(output.shape[:-1]) == 1:
            with over(loops, output.shape) as indices:
                source, inside = _source(indices, inputs[0].shape, before, after)
                loops.store(y, indices, value)
                with loops.when(tirx.all(*inside) if inside else tirx.const(True, "bool")):
                    loops.store(y, indices, x[tuple(source)])
            return
        size, first, width = inputs[0].shape[-1], before[-1], output.shape[-1]
        with loops.parallel("row", math.prod(output.shape[:-1])) as row:
            lead = loops.unravel("outer", row, output.shape[:-1])
            source, inside = _source(lead, inputs[0].shape[:-1], before[:-1], after[:-1])

            def fill(start: int, count: int) -> None:
                if count:
                    with loops.loop("i", count) as i:
                        loops.store(y, [*lead, i + start if start else i], value)

            def copy() -> None:
                fill(0, first)
                with loops.loop("i", size) as i:
                    loops.store(y, [*lead, i + first if first else i], x[(*source, i)])
                fill(first + size, width - first - size)

            if inside:
                with loops.when(tirx.all(*inside)):
                    copy()
                with loops.otherwise():
                    fill(0, width)
            else:
                copy()


def _source(
    indices: Sequence[Any], shape: Sequence[int], before: Sequence[int], after: Sequence[int]
) -> tuple[list[Any], list[Any]]:
    """The place that an element comes from, and what must hold for it not to be padding."""
    source, inside = [], []
    for index, size, lead, tail in zip(indices, shape, before, after, strict=True):
        source.append(index - lead if lead else index)
        inside += [index >= lead] if lead else []
        inside += [index < lead + size] if tail else []
    return source, inside
