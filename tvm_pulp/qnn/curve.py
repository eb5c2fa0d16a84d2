"""Sigmoid and hyperbolic tangent of 16-bit integers, by a table and straight lines between its points.

TFLite's int16 kernels, bit for bit. The input is brought to units of 1/12288 (`(x * multiplier + half) >> shift`); the
table holds the sigmoid at multiples of 1/24 with 16 bits, and tanh(x) = 2 sigmoid(2 x) - 1 shares it. `function` is
`sigmoid` or `tanh`. Operands: x, table[256].
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tvm_pulp.qnn.either import clip, select, whole
from tvm_pulp.qnn.elementwise import over
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, register
from tvm_pulp.qnn.tiles import BY_ELEMENT
from tvm_pulp.quick_records import quick_record

# Bits of the input between two points of the table.
_STEP_BITS = {"sigmoid": 9, "tanh": 8}
_LARGEST = {"sigmoid": 0x7FFF << 10, "tanh": 0xFFFF << 8}


@quick_record(kw_only=True, slots=False)
class CurveAttributes(Attributes):
    """Which function, and the scale of its input."""

    function: str
    multiplier: int
    shift: int


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


@register("curve", attributes=CurveAttributes, operands="x", tile=BY_ELEMENT, result="x")
class Curve(Operator[CurveAttributes]):
    def reference(self, attributes: CurveAttributes, inputs: Arrays) -> np.ndarray:
        return np.asarray(_value(attributes, inputs[0], inputs[1], lambda _name, made: made))

    def body(self, loops: Loops, attributes: CurveAttributes, inputs: Specs, output: TensorSpec) -> None:
        x, table, y = loops.buffers("x table y", (output.flat, inputs[1], output.flat))
        with over(loops, output.flat.shape) as (i,):
            loops.store(y, [i], _value(attributes, x[i], table, loops.bind))


def _value(attributes: CurveAttributes, x: Any, table: Any, bind: Callable[[str, Any], Any]) -> Any:
    """The result, in numpy or TIR; `bind` names what is used several times."""
    multiplier, shift, bits = attributes.multiplier, attributes.shift, _STEP_BITS[attributes.function]
    product = whole(x) * multiplier
    scaled = bind("scaled", (product + ((1 << shift) >> 1)) >> shift if shift else product)
    size = bind("size", select(scaled < 0, -scaled, scaled))
    place = bind("place", clip(size >> bits, 0, 255))
    near = bind("near", clip(place, 0, 254))
    first = bind("first", whole(table[near]))
    slope = whole(table[near + 1]) - first
    line = first * (1 << bits) + (size & ((1 << bits) - 1)) * slope
    value = bind("value", select(place == 255, _LARGEST[attributes.function], line))
    if attributes.function == "sigmoid":
        positive, negative, back = value + (1 << 9), ((1 << 25) + (1 << 9) - 1) - value, 10
    else:
        positive, negative, back = value + ((1 << 7) - (1 << 23)), ((1 << 23) + (1 << 7) - 1) - value, 8
    return (select(scaled < 0, negative, positive) >> back).astype("int16")
