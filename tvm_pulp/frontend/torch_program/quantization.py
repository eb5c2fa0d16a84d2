"""Quantized programs (PT2E): quantize and dequantize with fixed parameters, and with some chosen at run time."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.onnx_graph_builder import Dequantized, GraphBuilder, GraphValue, axis_of
from tvm_pulp.frontend.torch_program.elementwise import Operators

_TYPES = ("int8", "uint8", "int16", "uint16", "int32")


def _type(dtype: Any) -> str:
    name = str(dtype).removeprefix("torch.")
    refuse_if(name not in _TYPES, f"values are quantized to {name}: quantize them to int8, uint8 or int16")
    return name


def _number(g: GraphBuilder, given: Any, dtype: str) -> str:
    """A scale or zero point as a constant: a number, or a tensor of one element or one per channel."""
    array = g.array(given) if isinstance(given, GraphValue) else np.asarray(given)
    if array is None:
        raise UserError("a scale or zero point is computed in a way that is not known: quantize it with constants")
    return g.constant(array.reshape(()).astype(dtype) if array.size == 1 else array.astype(dtype))


def quantize(
    g: GraphBuilder,
    x: GraphValue,
    scale: Any,
    zero_point: Any,
    low: int,
    high: int,
    dtype: Any,
    axis: int | None = None,
) -> str:
    if isinstance(scale, GraphValue) and scale.name in g.dynamic:
        operand, integers, _ = g.dynamic[scale.name]
        if operand != x.name:
            raise UserError("values are quantized with parameters that were chosen for others: quantize it again")
        return integers
    kind = _type(dtype)
    limits = np.iinfo(kind)
    factor, zero = _number(g, scale, "float32"), _number(g, zero_point, kind)
    source = x.name
    if low > limits.min or high < limits.max:
        bounds = [(b - g.constants[zero].astype(np.float64)) * g.constants[factor] for b in (low, high)]
        if bounds[0].size != 1:
            raise UserError("values quantized per channel must use the whole range of their type: quantize them again")
        source = g.emit("Clip", x, *(np.float32(b) for b in bounds))
    return g.emit("QuantizeLinear", source, factor, zero, **axis_of(axis))


def dequantize(
    g: GraphBuilder,
    x: GraphValue,
    scale: Any,
    zero_point: Any,
    low: int,
    high: int,
    dtype: Any,
    axis: int | None = None,
) -> str:
    if isinstance(scale, GraphValue) and scale.name in g.dynamic:
        _, integers, zero = g.dynamic[scale.name]
        factor = scale.name
    else:
        integers, factor, zero = x.name, _number(g, scale, "float32"), _number(g, zero_point, _type(dtype))
    if axis is not None and g.constants[factor].size == 1:
        axis = None
    return g.dequantize(Dequantized(integers, factor, zero, axis))


def choose_qparams(g: GraphBuilder, x: GraphValue, low: int, high: int, _epsilon: float, dtype: Any) -> list[str]:
    """Scale and zero point of the values at hand.

    The integers are ONNX's, uint8: of int8 both they and the zero point would be 128 less, which means the same.
    """
    refuse_if(high - low != 255, f"values are quantized at run time to {low} .. {high}: use the whole range of 8 bits")
    integers, scale, zero = g.emit_many("DynamicQuantizeLinear", [x], 3)
    g.dynamic[scale] = (x.name, integers, zero)
    return [scale, zero]


def _operators(name: str, write: Callable[..., str]) -> Operators:
    """All ways in which a program states the parameters of a quantization; types of results follow the last operand."""

    def per_channel(
        g: GraphBuilder, x: GraphValue, scales: GraphValue, zeros: GraphValue | None, axis: int, *rest: Any
    ) -> str:
        return write(g, x, scales, np.zeros(scales.shape, np.int64) if zeros is None else zeros, *rest[:3], axis)

    per_tensor = [f"{_Q}.{name}_per_tensor{kind}" for kind in ("", ".tensor", ".tensor2")]
    return {
        **dict.fromkeys(per_tensor, lambda g, *operands: write(g, *operands[:6])),
        f"{_Q}.{name}_per_channel": per_channel,
    }


_Q = "quantized_decomposed"
OPERATORS: Operators = {
    **_operators("quantize", quantize),
    **_operators("dequantize", dequantize),
    f"{_Q}.choose_qparams.tensor": choose_qparams,
}
