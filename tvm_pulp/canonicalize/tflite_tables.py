"""Tables of TFLite's reference kernels for LEAKY_RELU, RSQRT, SQRT and HARD_SWISH, which round otherwise than a
float function."""

import math
from typing import Any

import numpy as np

from tvm_pulp.canonicalize.qdq_rewriter import IntegerTarget, QdqRewriter, QuantizedTensor
from tvm_pulp.canonicalize.rewriter import is_op, needed, or_none, require
from tvm_pulp.qnn.fixed_point import doubling_high_multiply, multiply, quantize_multiplier, rounding_shift
from tvm_pulp.qnn.fixed_point_functions import saturating_left
from tvm_pulp.qnn.rows import truncate_divide
from tvm_pulp.qnn.tensor_spec import BYTES

_ROOT_BITS = 20


@or_none
def reference_table(
    fold: QdqRewriter, real: Any, operand: QuantizedTensor | None, values: np.ndarray, target: IntegerTarget
) -> Any:
    """256 integers as the kernel of the operator computes them, or None where the float function is exact.

    `values` are the function's float results for all integers of the operand.
    """
    x, call = needed(operand), fold.definition(real)
    require(fold.arithmetic.name == "tflite" and x.dtype in BYTES and x.dtype == target.dtype)
    if is_op(call, "relax.nn.leakyrelu"):
        made = _leaky_relu(x.every_distance, x, np.float32(call.attrs.alpha), target)
    elif is_op(call, "relax.rsqrt"):
        made = _inverse_root(x.every_distance, x, target)
    elif is_op(call, "relax.sqrt"):
        # Not rounded but cut off; the kernel refuses numbers below zero.
        made = np.trunc(np.nan_to_num(values) / np.float32(target.scale)).astype(np.int64)
    else:
        require(np.allclose(values, _hard_swish_values(x.every_value), rtol=1e-5, atol=1e-6))
        made = _hard_swish(x.every_distance, x, target)
    return np.clip(made + target.zero_point, target.low, target.high).astype(target.dtype)


def _leaky_relu(centred: np.ndarray, x: QuantizedTensor, alpha: np.float32, target: IntegerTarget) -> np.ndarray:
    scale, result = np.float32(x.scale), np.float32(target.scale)
    sides = [quantize_multiplier(float(factor)) for factor in (scale / result, scale * alpha / result)]
    positive, negative = (multiply(centred, np.array([m]), np.array([e])) for m, e in sides)
    return np.where(centred >= 0, positive, negative)


def _inverse_root(centred: np.ndarray, x: QuantizedTensor, target: IntegerTarget) -> np.ndarray:
    """Roots with 20 bits behind the point; of zero the largest number there is, and of negative ones, which the kernel
    refuses."""
    multiplier, exponent = quantize_multiplier(1 / (math.sqrt(float(x.scale)) * float(target.scale)))
    roots = np.rint((1 << _ROOT_BITS) / np.sqrt(np.maximum(centred, 1))).astype(np.int64)
    scaled = multiply(roots, np.array([multiplier]), np.array([exponent - _ROOT_BITS]))
    return np.where(centred > 0, scaled, target.high - target.zero_point)


def _hard_swish_values(x: np.ndarray) -> np.ndarray:
    return np.asarray(x * np.clip(x + np.float32(3), 0, 6) / np.float32(6))


def _hard_swish(centred: np.ndarray, x: QuantizedTensor, target: IntegerTarget) -> np.ndarray:
    """In 16 bits, with two multipliers of 16 bits."""
    fine = np.float32(1 / 128) * np.float32(x.scale)
    output, output_exponent = _short_multiplier(float(fine / np.float32(target.scale)))
    relu, relu_exponent = _short_multiplier(float(fine / np.float32(3 / 32768)))
    value = centred << 7
    scaled = doubling_high_multiply(value, output, 15)
    gate = value
    if relu_exponent > 0:
        gate = saturating_left(gate, relu_exponent - 1, 15)
    gate = doubling_high_multiply(gate, relu, 15)
    if relu_exponent > 0:
        gate = saturating_left(gate, 1, 15)
    if relu_exponent < 0:
        gate = rounding_shift(gate, -relu_exponent)
    gate = (gate + (1 << 15)) >> 1
    left, right = max(output_exponent, 0), max(-output_exponent, 0)
    return rounding_shift(truncate_divide(gate * scaled, 1 << 15) << left, right)


def _short_multiplier(real: float) -> tuple[int, int]:
    multiplier, exponent = quantize_multiplier(real)
    return min((multiplier + (1 << 15)) >> 16, 0x7FFF), exponent
