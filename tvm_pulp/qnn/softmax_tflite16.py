"""TFLite's softmax on int16, bit for bit: exponential and reciprocal from tables with straight lines between points.

Tables: exp over -10..0 and 1 / (1 + x) over 0..1, 513 points each, 15 bits.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.either import whole
from tvm_pulp.qnn.fixed_point import multiply, quantize_multiplier
from tvm_pulp.qnn.loops import Loops, call, i32
from tvm_pulp.qnn.softmax_form import SoftmaxAttributes
from tvm_pulp.qnn.softmax_i import row_maximum
from tvm_pulp.quick_records import quick_record

POINTS = 513


@quick_record(kw_only=True, slots=False)
class Tflite16SoftmaxAttributes(SoftmaxAttributes):
    """The form `tflite16`: the scale of differences."""

    forms = ("tflite16",)

    dtype: str
    multiplier: int
    exponent: int


def parameters(scale: float, beta: float) -> dict[str, int]:
    """Multiplier that brings differences to units of 10 / 65535."""
    multiplier, exponent = quantize_multiplier(float(np.float32(scale) * np.float32(beta)) / (10.0 / 65535.0))
    return {"multiplier": multiplier, "exponent": exponent}


def tables() -> list[np.ndarray]:
    """Points of the exponential and of the reciprocal."""
    return [_points(np.exp, -10.0, 0.0), _points(lambda x: 1 / (1 + x), 0.0, 1.0)]


def _points(function: Callable[..., Any], low: float, high: float) -> np.ndarray:
    """Each point is moved by half of what a straight line errs at the middle between it and the next."""
    step = (high - low) / (POINTS - 1)
    places = low + np.arange(POINTS) * step
    value, middle = function(places) * 32768.0, function(places[:-1] + step / 2) * 32768.0
    sample, following = _rounded(value[:-1]), value[1:]
    between, midway = _rounded((following + sample) / 2), _rounded(middle)
    bias = _rounded((between - midway) / 2)
    points = np.append(
        np.clip(sample - bias, -32768, 32767), np.clip(_rounded(function(high) * 32768.0), -32768, 32767)
    )
    return points.astype(np.int16)


def _rounded(value: Any) -> np.ndarray:
    """Half away from zero."""
    return np.asarray(np.sign(value) * np.floor(np.abs(value) + 0.5))


def looked_up(value: Any, table: Any, bind: Callable[[str, Any], Any] = lambda _name, made: made) -> Any:
    """A point of a table or of the line to the next, in numpy or TIR; `bind` names what is used several times."""
    place = bind("place", (value >> 7) + 256)
    base = bind("base", whole(table[place]))
    return base + (((whole(table[place + 1]) - base) * (value & 0x7F) + 64) >> 7)


def reference(
    attributes: Tflite16SoftmaxAttributes, x: np.ndarray, exponentials: np.ndarray, inverses: np.ndarray
) -> np.ndarray:
    difference = x - x.max(-1, keepdims=True)
    scaled = multiply(difference, np.array(attributes.multiplier), np.array(attributes.exponent))
    e = looked_up(np.clip(scaled + 32767, -32768, 32767), exponentials)
    total = e.sum(-1, keepdims=True)
    zeros = 31 - np.floor(np.log2(total.astype(np.float64))).astype(np.int64)
    shifted = ((total << (zeros - 1)) + (1 << 13)) >> 14
    inverse = looked_up(np.clip(shifted - (1 << 15) - (1 << 16), -32768, 32767), inverses)
    right = 31 - zeros
    value = (e * inverse + (np.int64(1) << (right - 1))) >> right
    return np.clip(value, 0, 32767).astype(np.int16)


def row_loops(
    loops: Loops,
    attributes: Tflite16SoftmaxAttributes,
    x: Any,
    y: Any,
    row: Any,
    length: int,
    exponentials: Any,
    inverses: Any,
) -> None:
    largest = row_maximum(loops, x, row, length)

    def exponential_of(i: Any) -> Any:
        scaled = call("scale_tflite", i32(x[row, i]) - largest, attributes.multiplier, attributes.exponent)
        return looked_up(loops.bind("scaled", call("clip", scaled + 32767, -32768, 32767)), exponentials, loops.bind)

    total = loops.sum("total", "i", length, exponential_of)
    zeros = loops.bind("zeros", call("softmax_headroom", total.value))
    share = loops.bind("share", call("clip", call("softmax_share", total.value, zeros), -32768, 32767))
    inverse = loops.bind("inverse", looked_up(share, inverses, loops.bind))
    right = loops.bind("right", 31 - zeros)
    with loops.loop("i", length) as i:
        value = (exponential_of(i) * inverse + (tirx.const(1, "int32") << (right - 1))) >> right
        loops.store(y, [row, i], call("clip", value, 0, 32767).astype("int16"))
