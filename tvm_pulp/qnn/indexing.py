"""Operators whose results are elements of their operand at other places."""

from typing import TypeVar

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.elementwise import over
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, i32, register
from tvm_pulp.qnn.tiles import Box, Part, TileRule, Whole, all_axes
from tvm_pulp.quick_records import quick_record
from tvm_pulp.window import Window


def _transposed(whole: Whole, box: Box) -> Part:
    axes = TransposeAttributes.of(whole).axes
    places = [axes.index(axis) for axis in range(len(axes))]
    return Part((Box(*(tuple(of[p] for p in places) for of in (box.start, box.size))),), whole.attributes)


@quick_record(kw_only=True, slots=False)
class TransposeAttributes(Attributes):
    """Axes of the operand in the order of the result."""

    axes: tuple[int, ...]


@register("transpose", attributes=TransposeAttributes, tile=TileRule(all_axes, _transposed))
class Transpose(Operator[TransposeAttributes]):
    """Permutation of axes."""

    def infer(self, attributes: TransposeAttributes, inputs: Specs) -> TensorSpec:
        return TensorSpec(tuple(inputs[0].shape[a] for a in attributes.axes), inputs[0].dtype)

    def reference(self, attributes: TransposeAttributes, inputs: Arrays) -> np.ndarray:
        return np.ascontiguousarray(inputs[0].transpose(attributes.axes))

    def body(self, loops: Loops, attributes: TransposeAttributes, inputs: Specs, output: TensorSpec) -> None:
        axes = attributes.axes
        x, y = loops.buffer("x", inputs[0]), loops.buffer("y", output)
        with over(loops, output.shape) as indices:
            source = [indices[axes.index(axis)] for axis in range(len(axes))]
            loops.store(y, indices, x[tuple(source)])


@quick_record(kw_only=True, slots=False)
class SliceAttributes(Attributes):
    """One number per axis."""

    begin: tuple[int, ...]
    size: tuple[int, ...]
    stride: tuple[int, ...]


@register("slice", attributes=SliceAttributes)
class Slice(Operator[SliceAttributes]):
    """Strided slice of every axis: `begin`, `stride` and `size` per axis; a stride may be negative."""

    def infer(self, attributes: SliceAttributes, inputs: Specs) -> TensorSpec:
        return TensorSpec(tuple(attributes.size), inputs[0].dtype)

    def reference(self, attributes: SliceAttributes, inputs: Arrays) -> np.ndarray:
        picks = [
            begin + stride * np.arange(size)
            for begin, stride, size in zip(attributes.begin, attributes.stride, attributes.size, strict=True)
        ]
        return inputs[0][np.ix_(*picks)]

    def body(self, loops: Loops, attributes: SliceAttributes, inputs: Specs, output: TensorSpec) -> None:
        x, y = loops.buffer("x", inputs[0]), loops.buffer("y", output)
        with over(loops, output.shape) as indices:
            source = [
                index * stride + begin
                for index, begin, stride in zip(indices, attributes.begin, attributes.stride, strict=True)
            ]
            loops.store(y, indices, x[tuple(source)])


@quick_record(kw_only=True, slots=False)
class GatherAttributes(Attributes):
    """The axis that is selected from."""

    axis: int


Gathered = TypeVar("Gathered", bound=GatherAttributes)


@register("gather", attributes=GatherAttributes, operands="table indices")
class Gather(Operator[Gathered]):
    """Selection of constant indices along one axis; `scalar` drops the axis."""

    def infer(self, attributes: Gathered, inputs: Specs) -> TensorSpec:
        shape, axis = inputs[0].shape, attributes.axis
        return TensorSpec((*shape[:axis], *inputs[1].shape, *shape[axis + 1 :]), inputs[0].dtype)

    def reference(self, attributes: Gathered, inputs: Arrays) -> np.ndarray:
        return np.take(inputs[0], inputs[1].astype(np.int64), axis=attributes.axis)

    def body(self, loops: Loops, attributes: Gathered, inputs: Specs, output: TensorSpec) -> None:
        axis, rank = attributes.axis, len(inputs[1].shape)
        x, pick, y = loops.buffer("x", inputs[0]), loops.buffer("indices", inputs[1]), loops.buffer("y", output)
        with over(loops, output.shape) as indices:
            place = i32(pick[tuple(indices[axis : axis + rank]) or (i32(0),)])
            loops.store(y, indices, x[(*indices[:axis], place, *indices[axis + rank :])])


INDEX_TYPES = ("int32", "int64")


@quick_record(kw_only=True, slots=False)
class TakeAttributes(GatherAttributes):
    """The axis, and the meaning of numbers below zero."""

    from_end: bool


@register("take", attributes=TakeAttributes)
class Take(Gather[TakeAttributes]):
    """Entries of one axis by numbers that are known at run time only. Operands: x, indices.

    Numbers below zero count from the end where `from_end` says so; then all are brought into range.
    """

    def reference(self, attributes: TakeAttributes, inputs: Arrays) -> np.ndarray:
        x, indices, axis = *inputs, attributes.axis
        if attributes.from_end:
            indices = np.where(indices < 0, indices + x.shape[axis], indices)
        # Not `ascontiguousarray`, which makes a vector of a scalar.
        return np.array(np.take(x, np.clip(indices, 0, x.shape[axis] - 1), axis=axis), order="C")

    def body(self, loops: Loops, attributes: TakeAttributes, inputs: Specs, output: TensorSpec) -> None:
        axis, rank = attributes.axis, len(inputs[1].shape)
        x, indices, y = loops.buffers("x indices y", (*inputs, output))
        dtype, extent = inputs[1].dtype, inputs[0].shape[axis]
        zero, last, every = (tirx.const(n, dtype) for n in (0, extent - 1, extent))
        with over(loops, output.shape) as place:
            given = loops.bind("given", indices[tuple(place[axis : axis + rank]) or (i32(0),)])
            if attributes.from_end:
                given = loops.bind("counted", tirx.Select(given < zero, given + every, given))
            entry = loops.bind("entry", i32(tirx.max(zero, tirx.min(given, last))))
            loops.store(y, place, x[(*place[:axis], entry, *place[axis + rank :])])


@quick_record(kw_only=True, slots=False)
class DilateAttributes(Attributes):
    """One stride per axis, and what lies between."""

    strides: tuple[int, ...]
    value: int | float


@register("dilate", attributes=DilateAttributes)
class Dilate(Operator[DilateAttributes]):
    """Spreads a tensor: `strides - 1` copies of `value` between neighbours of an axis, for transposed convolutions."""

    def infer(self, attributes: DilateAttributes, inputs: Specs) -> TensorSpec:
        pairs = zip(inputs[0].shape, attributes.strides, strict=True)
        return TensorSpec(tuple(Window(stride=s).transposed_extent(d) for d, s in pairs), inputs[0].dtype)

    def reference(self, attributes: DilateAttributes, inputs: Arrays) -> np.ndarray:
        x = inputs[0]
        shape = self.infer(attributes, [TensorSpec(x.shape, str(x.dtype))]).shape
        y = np.full(shape, attributes.value, x.dtype)
        y[tuple(slice(None, None, s) for s in attributes.strides)] = x
        return y

    def body(self, loops: Loops, attributes: DilateAttributes, inputs: Specs, output: TensorSpec) -> None:
        strides = attributes.strides
        x, y = loops.buffer("x", inputs[0]), loops.buffer("y", output)
        with over(loops, output.shape) as indices:
            on_grid = [tirx.truncmod(i, i32(s)) == 0 for i, s in zip(indices, strides, strict=True) if s > 1]
            source = [tirx.truncdiv(i, i32(s)) if s > 1 else i for i, s in zip(indices, strides, strict=True)]
            loops.store(y, indices, tirx.const(attributes.value, output.dtype))
            with loops.when(tirx.all(*on_grid) if on_grid else tirx.const(True, "bool")):
                loops.store(y, indices, x[tuple(source)])
