"""Floats as integers: clip(round_half_even(x / scale) + zero_point), the quotient rounded to float32 as a division is.

Operands: x, scale, 1 / scale, zero_point: each one element, or one per entry of `axis`. What is not a number
becomes the smallest integer, as it does in onnxruntime. The reciprocal is an operand because the cores divide slowly.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.axis_loops import over_axis
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, call, i32, register
from tvm_pulp.qnn.tensor_spec import RANGES
from tvm_pulp.qnn.tiles import elementwise

# How close to the middle between two integers the product with the reciprocal decides, in parts of the scale.
_UNSURE = {8: 2.0**-10, 16: 2.0**-6}
TYPES = ("int8", "uint8", "int16", "uint16")


@register("quantize", attributes="axis dtype", operands="x scale inverse_scale zero_point", tile=elementwise(1))
class Quantize(Operator):
    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
        x, scale, _, zero_point = along_axis(inputs, attributes["axis"])
        return quantized(x, scale, zero_point, attributes["dtype"])

    def body(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:

        def prepare(values: Sequence[Any]) -> list[Any]:
            return [quantizing(loops, values, output)]

        def element(x: Any, quantize: Any) -> Any:
            return quantize(x)

        over_axis(loops, attributes["axis"], ("x", "scale", "reciprocal", "zero"), inputs, output, prepare, element)


def quantizing(loops: Loops, parameters: Sequence[Any], output: TensorSpec) -> Callable[[Any], Any]:
    """A function that makes an integer of a float, by scale, reciprocal and zero point."""
    (low, high), (scale, reciprocal, zero) = output.range, parameters
    sure = loops.bind("sure", scale * tirx.const(sure_share(output.dtype), "float32"))
    zero_point = loops.bind("zero_point", i32(zero))

    def element(x: Any) -> Any:
        return call("quantize", x, scale, reciprocal, sure, zero_point, low, high).astype(output.dtype)

    return element


def quantized(x: np.ndarray, scale: np.ndarray, zero_point: np.ndarray, dtype: str) -> np.ndarray:
    """The definition, in numpy."""
    low, high = RANGES[dtype]
    with np.errstate(all="ignore"):
        quotient = (x / scale).astype(np.float32)
    whole = np.rint(np.clip(quotient.astype(np.float64), -(2.0**24), 2.0**24))
    value = np.where(np.isnan(whole), low, np.clip(whole + zero_point.astype(np.float64), low, high))
    return np.asarray(value.astype(dtype))


def sure_share(dtype: str) -> float:
    """Part of the scale within which the product with the reciprocal decides: a little less than half."""
    return 0.5 - _UNSURE[np.dtype(dtype).itemsize * 8]


def along_axis(inputs: Arrays, axis: int) -> list[np.ndarray]:
    """The operands after the first, shaped so that numpy lets them follow an axis of the first."""
    shape = [1] * max(1, inputs[0].ndim)
    shape[axis] = -1
    return [inputs[0], *[v.reshape(shape) if v.size > 1 else v.reshape(()) for v in inputs[1:]]]
