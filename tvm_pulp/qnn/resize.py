"""Resizing of images: every result is a weighted mean of a few rows and columns.

    acc = sum over columns of weight * ((sum over rows of weight * x + half) >> middle)

Weights of each axis are integers that add up to 2^bits, so the zero point can be taken out at the end; `middle` bits
are rounded off between the axes where the weights are not exact. The result is requantized per tensor. With `taps` of
one row and one column nothing is weighed: the result is x at these places, and there is no requantization.

Where input and result have one scale, halves are frequent, and a framework that computes in floats decides them by the
rounding errors of its sum. `ties` follows it for results within `slack` of a half: the sum of floats is computed, row
by row, from `values`, the float of every byte, and real weights; `thresholds` holds the smallest sum that becomes the
next integer, for every byte of the result.

Operands: x, rows[height, taps], their weights, columns[width, taps], their weights, the tensors of the requantization,
and for ties: real weights of the rows, of the columns, values[256], thresholds[256].
"""

from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.operator import Arrays, Loops, Operator, Requant, Specs, TensorSpec, call, i32, register
from tvm_pulp.qnn.record import Requantized
from tvm_pulp.quick_records import quick_record


@quick_record(kw_only=True, slots=False)
class ResizeAttributes(Requantized):
    """Rows and columns that are weighed, and bits of their weights."""

    layout: str
    taps: tuple[int, int]
    bits: tuple[int, int] = (0, 0)
    middle: int = 0
    slack: int = 0
    ties: bool = False
    zero_point: int = 0


def is_copy(attributes: ResizeAttributes) -> bool:
    """Tell whether nothing is weighed."""
    return list(attributes.taps) == [1, 1]


def fraction_bits(attributes: ResizeAttributes) -> int:
    """Bits of the accumulator below one unit of the input."""
    return int(sum(attributes.bits) - attributes.middle)


@register("resize", attributes=ResizeAttributes)
class Resize(Operator[ResizeAttributes]):
    def infer(self, attributes: ResizeAttributes, inputs: Specs) -> TensorSpec:
        size = (inputs[1].shape[0], inputs[3 if not is_copy(attributes) else 2].shape[0])
        n, *rest = inputs[0].shape
        dtype = inputs[0].dtype if is_copy(attributes) else Requant.of(attributes).out_dtype
        if attributes.layout == "NHWC":
            return TensorSpec((n, *size, rest[2]), dtype)
        return TensorSpec((n, rest[0], *size), dtype)

    def reference(self, attributes: ResizeAttributes, inputs: Arrays) -> np.ndarray:
        x = inputs[0] if attributes.layout == "NHWC" else inputs[0].transpose(0, 2, 3, 1)
        if is_copy(attributes):
            result = x[:, inputs[1][:, 0]][:, :, inputs[2][:, 0]]
        else:
            result = _weighed(attributes, x, inputs)
        return result if attributes.layout == "NHWC" else np.ascontiguousarray(result.transpose(0, 3, 1, 2))

    def body(self, loops: Loops, attributes: ResizeAttributes, inputs: Specs, output: TensorSpec) -> None:
        _Lowering(loops, attributes, inputs, output).write()


def _weighed(attributes: ResizeAttributes, x: np.ndarray, inputs: Arrays) -> np.ndarray:
    rule, fraction, middle = Requant.of(attributes), fraction_bits(attributes), attributes.middle
    rows, row_weights, columns, column_weights = (t.astype(np.int64) for t in inputs[1:5])
    picked = [[x[:, rows[:, i]][:, :, columns[:, j]] for j in range(columns.shape[1])] for i in range(rows.shape[1])]
    half = (1 << middle) >> 1
    acc = np.zeros(picked[0][0].shape, np.int64)
    for j in range(columns.shape[1]):
        line = sum(row_weights[:, i, None, None] * picked[i][j].astype(np.int64) for i in range(rows.shape[1]))
        acc += column_weights[:, j, None] * ((line + half) >> middle)
    acc -= attributes.zero_point << fraction
    result = rule.apply(acc, inputs[5:7])
    if not attributes.ties:
        return result
    real_rows, real_columns, values, thresholds = inputs[7:11]
    low = TensorSpec((), str(x.dtype)).range[0]
    total: Any = np.float32(0)
    for i in range(rows.shape[1]):
        for j in range(columns.shape[1]):
            weight = real_rows[:, i, None, None] * real_columns[:, j, None]
            term = weight * values[picked[i][j].astype(np.int64) - low]
            total = (total + term if i or j else term).astype(np.float32)
    lower = (acc >> fraction) + rule.zero_point
    place = np.clip(lower - TensorSpec((), rule.out_dtype).range[0], 0, 255)
    decided = np.clip(lower + (total >= thresholds[place]), rule.low, rule.high).astype(rule.out_dtype)
    distance = (acc & ((1 << fraction) - 1)) - ((1 << fraction) >> 1)
    return np.where(np.abs(distance) <= attributes.slack, decided, result)


class _Lowering:
    """The loop nest of one resize."""

    def __init__(self, loops: Loops, attributes: ResizeAttributes, inputs: Specs, output: TensorSpec) -> None:
        self.attributes, self.inputs, self.output, self.loops = attributes, inputs, output, loops
        names = ["x", "rows", "columns"] if is_copy(attributes) else ["x", "rows", "row_weights", "columns"]
        names += [] if is_copy(attributes) else ["column_weights", "mul", "add"]
        names += ["real_rows", "real_columns", "values", "thresholds"] if attributes.ties else []
        self.of = {n: loops.buffer(n, s) for n, s in zip(names, inputs, strict=False)}
        self.y = loops.buffer("y", output)

    def write(self) -> None:
        loops, shape = self.loops, self.output.shape
        interleaved = self.attributes.layout == "NHWC"
        with loops.parallel("place", int(np.prod(shape[:3]))) as place:
            lead = loops.unravel("outer", place, shape[:3])
            with loops.loop("i", shape[3]) as last:
                places = (lead[0], lead[1], lead[2], last) if interleaved else (lead[0], lead[2], last, lead[1])
                loops.store(self.y, [*lead, last], self.result(*places))

    def pixel(self, n: Any, row: Any, column: Any, channel: Any) -> Any:
        place = (n, row, column, channel) if self.attributes.layout == "NHWC" else (n, channel, row, column)
        return self.of["x"][place]

    def result(self, n: Any, oy: Any, ox: Any, channel: Any) -> Any:
        a, loops, of = self.attributes, self.loops, self.of
        rows = [loops.bind("row", of["rows"][oy, i32(i)]) for i in range(a.taps[0])]
        columns = [loops.bind("column", of["columns"][ox, i32(j)]) for j in range(a.taps[1])]
        if is_copy(a):
            return self.pixel(n, rows[0], columns[0], channel)
        taps = [[loops.bind("tap", i32(self.pixel(n, r, c, channel))) for c in columns] for r in rows]
        row_weights = [loops.bind("down", of["row_weights"][oy, i32(i)]) for i in range(len(rows))]
        column_weights = [loops.bind("across", of["column_weights"][ox, i32(j)]) for j in range(len(columns))]
        rule, fraction, middle = Requant.of(a), fraction_bits(a), a.middle
        acc: Any = i32(-(a.zero_point << fraction))
        for j, weight in enumerate(column_weights):
            line: Any = i32((1 << middle) >> 1)
            for i, down in enumerate(row_weights):
                line = line + down * taps[i][j]
            acc = acc + weight * (line >> i32(middle) if middle else line)
        acc = loops.bind("acc", acc)
        if not a.ties:
            return rule.expression(acc, [of["mul"], of["add"]], i32(0))
        low = self.inputs[0].range[0]
        total: Any = None
        for i in range(len(rows)):
            for j in range(len(columns)):
                term = (of["real_rows"][oy, i32(i)] * of["real_columns"][ox, i32(j)]) * of["values"][taps[i][j] - low]
                total = term if total is None else total + term
        lower = loops.bind("lower", (acc >> i32(fraction)) + rule.zero_point)
        place = call("clip", lower - self.output.range[0], 0, 255)
        more = tirx.Select(total >= of["thresholds"][place], lower + 1, lower)
        decided = call("clip", more, rule.low, rule.high).astype(self.output.dtype)
        nearest, slack = (1 << fraction) >> 1, a.slack
        # One scale: what is no half is rounded by a shift.
        rounded = ((acc + i32(nearest)) >> i32(fraction)) + rule.zero_point
        value = call("clip", rounded, rule.low, rule.high).astype(self.output.dtype)
        # Unsigned: one comparison instead of two.
        distance = (acc & i32((1 << fraction) - 1)) - i32(nearest - slack)
        return tirx.Select(distance.astype("uint32") <= tirx.const(2 * slack, "uint32"), decided, value)
