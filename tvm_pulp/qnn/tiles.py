"""How a layer is cut into tiles: for a part of its result, the part of every operand and the kernel's attributes.

An operator states its rule as `tile`. The rules here are those that several operators share.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tvm_pulp.qnn.record import Attributes
from tvm_pulp.qnn.tensor_spec import Specs, TensorSpec
from tvm_pulp.qnn.window_attributes import KernelAttributes, StepAttributes, WindowAttributes, windows
from tvm_pulp.quick_records import changed, quick_record
from tvm_pulp.window import InputSpan

AnyWindow = TypeVar("AnyWindow", bound=WindowAttributes)


@quick_record()
class Box:
    """Elements [start, start + size) along every axis."""

    start: tuple[int, ...]
    size: tuple[int, ...]

    @property
    def elements(self) -> int:
        return math.prod(self.size)

    @property
    def end(self) -> tuple[int, ...]:
        return tuple(a + b for a, b in zip(self.start, self.size, strict=True))

    @staticmethod
    def whole(shape: Sequence[int]) -> "Box":
        """All of a tensor."""
        return Box((0,) * len(shape), tuple(shape))

    def span(self, axis: int) -> slice:
        """The elements along one axis; a scalar is one element along any."""
        if not self.start:
            return slice(0, 1)
        return slice(self.start[axis], self.start[axis] + self.size[axis])

    def __str__(self) -> str:
        return "[" + ", ".join(f"{a}:{a + b}" for a, b in zip(self.start, self.size, strict=True)) + "]"


@dataclass(frozen=True)
class TileAxis:
    """An axis of the output that may be cut, into pieces that are multiples of `step` and at most `limit`.

    Where no such pieces fit, multiples of `least` do.
    """

    axis: int
    step: int = 1
    limit: int | None = None
    least: int | None = None


@dataclass(frozen=True)
class Whole:
    """A call of an operator before it is cut."""

    attributes: Attributes
    inputs: Specs
    output: TensorSpec


@dataclass(frozen=True)
class Part:
    """Boxes of the inputs, and attributes of the kernel that computes the part."""

    inputs: tuple[Box, ...]
    attributes: Attributes


@dataclass(frozen=True)
class TileRule:
    """Axes that may be cut, most favoured first, and what a part needs."""

    axes: Callable[[Whole], tuple[TileAxis, ...]]
    part: Callable[[Whole, Box], Part]


def all_axes(whole: Whole) -> tuple[TileAxis, ...]:
    return axes(*range(len(whole.output.shape)))(whole)


def row_axes(whole: Whole) -> tuple[TileAxis, ...]:
    """All axes but the last."""
    return all_axes(whole)[:-1]


def axes(*numbers: int) -> Callable[[Whole], tuple[TileAxis, ...]]:
    """The same axes whatever is cut."""
    return lambda _: tuple(TileAxis(number) for number in numbers)


def constants(inputs: Specs, channels: slice | None) -> list[Box]:
    """Boxes of constant operands: those of one element per channel follow the channels."""
    return [
        Box.whole(spec.shape)
        if spec.elements == 1 or channels is None
        else Box((channels.start,), (channels.stop - channels.start,))
        for spec in inputs
    ]


def broadcast_box(shape: Sequence[int], box: Box) -> Box:
    """Part of a broadcast operand."""
    start, size = box.start[len(box.start) - len(shape) :], box.size[len(box.size) - len(shape) :]
    return Box(
        tuple(0 if d == 1 else s for d, s in zip(shape, start, strict=True)),
        tuple(1 if d == 1 else s for d, s in zip(shape, size, strict=True)),
    )


def elementwise(data: int | None = None) -> TileRule:
    """Every data operand follows the result; vectors behind them follow an axis. None: the attribute `operands`."""

    def part(whole: Whole, box: Box) -> Part:
        count = int(whole.attributes["operands"]) if data is None else data
        boxes = [broadcast_box(spec.shape, box) for spec in whole.inputs[:count]]
        channels = box.span(getattr(whole.attributes, "axis", -1))
        return Part((*boxes, *constants(whole.inputs[count:], channels)), whole.attributes)

    return TileRule(all_axes, part)


def _following(count: int) -> Callable[[Whole, Box], Part]:
    """So many operands follow the result, all of the others is needed."""
    return lambda whole, box: Part((*(box,) * count, *constants(whole.inputs[count:], None)), whole.attributes)


# Element by element, of one operand or of two, and by whole rows.
BY_ELEMENT, PAIRS_BY_ELEMENT = (TileRule(all_axes, _following(count)) for count in (1, 2))
BY_ROW = TileRule(row_axes, _following(1))


def window_spans(
    a: StepAttributes, picture: TensorSpec, box: Box, kernel: Sequence[int]
) -> tuple[InputSpan, InputSpan]:
    """Input rows and columns of an output part."""
    rows, columns = windows(a, kernel)
    _, height, width, _ = picture.shape
    return rows.span(box.start[1], box.size[1], height), columns.span(box.start[2], box.size[2], width)


def window_box(whole: Whole, attributes: AnyWindow, box: Box, kernel: Sequence[int]) -> tuple[Box, AnyWindow]:
    """Input rows and columns of an output part; the attributes keep only the padding that remains."""
    rows, columns = window_spans(attributes, whole.inputs[0], box, kernel)
    pads = rows.before, columns.before, rows.after, columns.after
    source = Box((box.start[0], rows.start, columns.start), (box.size[0], rows.size, columns.size))
    return source, changed(attributes, pads=pads)


def with_channels(box: Box, start: int, size: int) -> Box:
    """Rows and columns of `window_box` with channels last."""
    return Box((*box.start, start), (*box.size, size))


def pool_part(whole: Whole, box: Box) -> Part:
    stated = KernelAttributes.of(whole)
    source, attributes = window_box(whole, stated, box, stated.kernel)
    rest = constants(whole.inputs[1:], None)
    return Part((with_channels(source, box.start[3], box.size[3]), *rest), attributes)


POOL = TileRule(axes(1, 3, 2, 0), pool_part)


def float_window(whole: Whole, box: Box, kernel: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """First input row and column of an output part, and how many; no padding, layout NCHW."""
    axes = zip(windows(StepAttributes.of(whole), kernel), box.start[2:], box.size[2:], strict=True)
    ends = [window.reads(start, size) for window, start, size in axes]
    return tuple(first for first, _ in ends), tuple(stop - first for first, stop in ends)


def _matmul_part(whole: Whole, box: Box) -> Part:
    a, b = whole.inputs[:2]

    def matrix(spec: TensorSpec, rows: tuple[int, int], columns: tuple[int, int]) -> Box:
        """Some rows and columns of the matrices of a batch."""
        lead = broadcast_box((*spec.shape[:-2], 1, 1), box)
        return Box((*lead.start[:-2], rows[0], columns[0]), (*lead.size[:-2], rows[1], columns[1]))

    left = matrix(a, (box.start[-2], box.size[-2]), (0, a.shape[-1]))
    columns = (box.start[-1], box.size[-1])
    if whole.attributes["transpose_b"]:
        right = matrix(b, columns, (0, b.shape[-1]))
    else:
        right = matrix(b, (0, b.shape[-2]), columns)
    return Part((left, right, *constants(whole.inputs[2:], box.span(-1))), whole.attributes)


MATMUL = TileRule(all_axes, _matmul_part)
