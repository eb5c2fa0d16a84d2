"""Sigmoid and hyperbolic tangent of 16-bit integers, by a table and straight lines between its points.

TFLite's int16 kernels, bit for bit. The input is brought to units of 1/12288 (`(x * multiplier + half) >> shift`); the
table holds the sigmoid at multiples of 1/24 with 16 bits, and tanh(x) = 2 sigmoid(2 x) - 1 shares it. `function` is
`sigmoid` or `tanh`. Operands: x, table[256].
"""

import math

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.elementwise import over
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, call, i32, register
from tvm_pulp.qnn.tiles import BY_ELEMENT

# Bits of the input between two points of the table.
_STEP_BITS = {"sigmoid": 9, "tanh": 8}
_LARGEST = {"sigmoid": 0x7FFF << 10, "tanh": 0xFFFF << 8}


def sigmoid_points() -> np.ndarray:
    """The table: each point is raised by half of what a straight line to the next errs in the middle."""

    def sigmoid(place: np.ndarray) -> np.ndarray:
        return np.asarray(65536 / (1 + np.exp(-place / 24)))

    places = np.arange(256, dtype=np.float64)
    error = (sigmoid(places) + sigmoid(places + 1)) / 2 - sigmoid(places + 0.5)
    points = np.floor(sigmoid(places) - error / 2 + 0.5)
    points[-1] = 65535
    return points.astype(np.uint16)


def parameters(scale: float) -> dict[str, int]:
    """Multiplier and shift that bring an input of this scale to units of 1/12288."""
    if scale == 1 / 4096:
        return {"multiplier": 3, "shift": 0}
    multiplier, shift = scale * 4096.0 * 3.0, 0
    while multiplier <= 32767.0 / 2.0 and shift <= 30:
        multiplier, shift = multiplier * 2.0, shift + 1
    return {"multiplier": math.trunc(multiplier), "shift": shift}


@register("curve", attributes="function multiplier shift", operands="x", tile=BY_ELEMENT, result="x")
class Curve(Operator):
    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
        x, table = (t.astype(np.int64) for t in inputs)
        shift, bits = attributes["shift"], _STEP_BITS[attributes["function"]]
        scaled = (x * attributes["multiplier"] + ((1 << shift) >> 1)) >> shift
        place, rest = np.abs(scaled) >> bits, np.abs(scaled) & ((1 << bits) - 1)
        first, second = table[np.minimum(place, 254)], table[np.minimum(place, 254) + 1]
        value = np.where(place >= 255, _LARGEST[attributes["function"]], (first << bits) + rest * (second - first))
        if attributes["function"] == "sigmoid":
            result = np.where(scaled >= 0, value + (1 << 9), (1 << 25) - value + (1 << 9) - 1) >> 10
        else:
            result = np.where(scaled >= 0, value - (1 << 23) + (1 << 7), (1 << 23) - value + (1 << 7) - 1) >> 8
        return result.astype(np.int16)

    def body(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:
        x, table, y = loops.buffers("x table y", (output.flat, inputs[1], output.flat))
        multiplier, shift, bits = attributes["multiplier"], attributes["shift"], _STEP_BITS[attributes["function"]]
        with over(loops, output.flat.shape) as (i,):
            product = i32(x[i]) * multiplier
            scaled = loops.bind("scaled", (product + ((1 << shift) >> 1)) >> i32(shift) if shift else product)
            size = loops.bind("size", tirx.Select(scaled < 0, -scaled, scaled))
            place = loops.bind("place", call("clip", size >> i32(bits), 0, 255))
            near = loops.bind("near", call("clip", place, 0, 254))
            first = loops.bind("first", i32(table[near]))
            slope = i32(table[near + 1]) - first
            line = first * (1 << bits) + (size & i32((1 << bits) - 1)) * slope
            value = loops.bind("value", tirx.Select(place == i32(255), i32(_LARGEST[attributes["function"]]), line))
            if attributes["function"] == "sigmoid":
                positive, negative, back = value + (1 << 9), ((1 << 25) + (1 << 9) - 1) - value, 10
            else:
                positive, negative, back = value + ((1 << 7) - (1 << 23)), ((1 << 23) + (1 << 7) - 1) - value, 8
            loops.store(y, [i], (tirx.Select(scaled < 0, negative, positive) >> i32(back)).astype("int16"))
