"""Softmax of floats along the last axis: exp(x - max) / sum of them. Operands: x[, points of the table below].

Where cores share their float units, exponentials are better made of integers: 2^(n + f) has n as its exponent, and its
mantissa lies on a straight line between two of 257 points, less than a millionth away.
"""

from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.float_rows import each, extreme
from tvm_pulp.qnn.operator import Arrays, Loops, Operator, Specs, TensorSpec, call, i32, register
from tvm_pulp.qnn.record import NoAttributes
from tvm_pulp.qnn.tiles import BY_ROW

# Bits of a float's fraction; and those of them that say where between two points.
_FRACTION, _BETWEEN = 23, 15


def exponential_points() -> np.ndarray:
    """For every 256th: the bits of 2^(i / 256) as a float, and how many more 2^((i + 1) / 256) has."""
    bits = np.rint((np.exp2(np.arange(257) / 256) - 1 + 127) * (1 << _FRACTION)).astype(np.int64)
    return np.stack([bits[:-1], np.diff(bits)], axis=1).astype(np.int32)


@register("float_softmax", operands="x points", tile=BY_ROW, result="float32")
class FloatSoftmax(Operator[NoAttributes]):
    def reference(self, attributes: NoAttributes, inputs: Arrays) -> np.ndarray:
        x = inputs[0].astype(np.float64)
        with np.errstate(invalid="ignore"):
            weights = np.exp(x - x.max(-1, keepdims=True))
            return np.asarray((weights / weights.sum(-1, keepdims=True)).astype(np.float32))

    def body(self, loops: Loops, attributes: NoAttributes, inputs: Specs, output: TensorSpec) -> None:
        length = inputs[0].shape[-1]
        x = loops.buffer("x", output.flat)
        points = loops.buffer("points", inputs[1]) if len(inputs) > 1 else None
        y = loops.buffer("y", output.flat)
        with loops.parallel("row", output.elements // length) as row:
            first = loops.bind("first", row * length)
            largest = extreme(loops, "largest", length, lambda at: x[first + at], "fmax")
            sum_of = loops.scalar("sum", 0, "float32")
            # One at a time: four times the code would not stay in a core's own instruction cache.
            with loops.loop("at", length) as at:
                below = x[first + at] - largest
                if points is None:
                    weight = loops.bind("weight", call("exp_below", below, dtype="float32"))
                else:
                    weight = _by_points(loops, below, points)
                loops.store(y, [first + at], weight)
                sum_of.set(sum_of.value + weight)
            factor = loops.bind("factor", call("divide", tirx.const(1, "float32"), sum_of.value, dtype="float32"))
            each(loops, length, lambda at: loops.store(y, [first + at], y[first + at] * factor))


def _by_points(loops: Loops, below: Any, points: Any) -> Any:
    """exp of a number that is not positive; what is no normal float any more is zero."""
    unit = 1 << _FRACTION
    power = loops.bind("power", below * tirx.const(float(np.float32(np.log2(np.e) * unit)), "float32"))
    weight = loops.scalar("weight", 0, "float32")
    with loops.when(power >= tirx.const(-126.0 * unit, "float32")):
        whole = loops.bind("whole", power.astype("int32"))
        point = loops.bind("point", (whole >> i32(_BETWEEN)) & i32(255))
        beyond = whole & i32((1 << _BETWEEN) - 1)
        bits = points[point, 0] + ((points[point, 1] * beyond) >> i32(_BETWEEN)) + (whole & i32(-unit))
        weight.set(call("float_of", bits, dtype="float32"))
    with loops.otherwise(), loops.when(tirx.NE(power, power)):
        weight.set(power)
    return loops.bind("weight", weight.value)
