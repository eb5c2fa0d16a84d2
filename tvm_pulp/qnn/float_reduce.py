"""Sum, mean, largest or smallest of a function of floats over neighbouring axes.

`expression` is that of `float_map`; all operands have the same shape. `axes` follow each other; `keepdims` leaves them
as axes of size one.
"""

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tvm_pulp.qnn.float_map import ExpressionAttributes, expression_value, numpy_value, operand_values, tree
from tvm_pulp.qnn.float_rows import extreme, mean_of, total
from tvm_pulp.qnn.loops import SHARED_ITERATIONS
from tvm_pulp.qnn.operator import Arrays, Loops, Operator, Specs, TensorSpec, emit, register
from tvm_pulp.qnn.tiles import Box, Part, TileAxis, TileRule, Whole
from tvm_pulp.quick_records import quick_record

_NUMPY: dict[str, Callable[..., Any]] = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min}


def emit_reduce(kind: str, axes: list[int], expression: list[Any], operands: list[Any], keepdims: bool = False) -> Any:
    attributes = {"kind": kind, "axes": axes, "keepdims": int(keepdims), "expression": json.dumps(expression)}
    return emit("float_reduce", operands, attributes)


def _kept(whole: Whole) -> list[tuple[int, int]]:
    """Axes of the result that are axes of the operands, and which."""
    axes, keep = FloatReduceAttributes.of(whole).axes, FloatReduceAttributes.of(whole).keepdims
    every = enumerate(a for a in range(len(whole.inputs[0].shape)) if keep or a not in axes)
    return [(position, axis) for position, axis in every if axis not in axes]


def _axes(whole: Whole) -> tuple[TileAxis, ...]:
    return tuple(TileAxis(position) for position, _ in _kept(whole))


def _part(whole: Whole, box: Box) -> Part:
    shape = whole.inputs[0].shape
    start, size = [0] * len(shape), list(shape)
    for position, axis in _kept(whole):
        start[axis], size[axis] = box.start[position], box.size[position]
    return Part((Box(tuple(start), tuple(size)),) * len(whole.inputs), whole.attributes)


@quick_record(kw_only=True, slots=False)
class FloatReduceAttributes(ExpressionAttributes):
    """`kind` is sum, mean, max or min."""

    axes: tuple[int, ...]
    keepdims: bool
    kind: str


@register("float_reduce", attributes=FloatReduceAttributes, tile=TileRule(_axes, _part))
class FloatReduce(Operator[FloatReduceAttributes]):
    def infer(self, attributes: FloatReduceAttributes, inputs: Specs) -> TensorSpec:
        axes, keep = attributes.axes, attributes.keepdims
        shape = [1 if a in axes else d for a, d in enumerate(inputs[0].shape) if keep or a not in axes]
        return TensorSpec(tuple(shape), "float32")

    def reference(self, attributes: FloatReduceAttributes, inputs: Arrays) -> np.ndarray:
        values = np.asarray(numpy_value(tree(attributes), inputs)).astype(np.float64)
        reduce, axes = _NUMPY[attributes.kind], tuple(attributes.axes)
        return np.asarray(reduce(values, axis=axes, keepdims=bool(attributes.keepdims))).astype(np.float32)

    def body(self, loops: Loops, attributes: FloatReduceAttributes, inputs: Specs, output: TensorSpec) -> None:
        kind, shape = attributes.kind, inputs[0].shape
        first_axis, last_axis = min(attributes.axes), max(attributes.axes)
        outer, inner = math.prod(shape[:first_axis]), math.prod(shape[last_axis + 1 :])
        length = math.prod(shape[first_axis : last_axis + 1])
        buffers = [loops.buffer(f"x{n}", s.flat) for n, s in enumerate(inputs)]
        y = loops.buffer("y", output.flat)
        expression = tree(attributes)

        def reduce(i: Any, j: Any) -> None:
            first = loops.bind("first", i * (length * inner) + j if inner > 1 else i * length)

            def value(at: Any) -> Any:
                place = first + at * inner if inner > 1 else first + at
                values = [loops.bind("v", b[place]) for b in buffers]
                return expression_value(loops, expression, operand_values(values))

            if kind in ("max", "min"):
                result = extreme(loops, "best", length, value, f"f{kind}")
            else:
                result = total(loops, "total", length, value)
            if kind == "mean":
                result = mean_of(loops, result, length, may_be_infinite=True)
            loops.store(y, [i * inner + j if inner > 1 else i], result)

        # The longer of the two axes that are left is shared, the outer one where it is long enough.
        if outer >= SHARED_ITERATIONS or outer >= inner:
            with loops.parallel("i", outer) as i, loops.loop("j", inner) as j:
                reduce(i, j)
        else:
            with loops.parallel("j", inner) as j, loops.loop("i", outer) as i:
                reduce(i, j)
