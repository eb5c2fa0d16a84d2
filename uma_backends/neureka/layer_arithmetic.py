"""How a layer's arithmetic maps onto the array: weight bits, folded bias, native or exact requantization.

The array computes `(acc * scale + bias) >> shift` with one shift per layer and never rounds. A layer is native when
its own rule is of that shape and provably stays inside 32 bits; otherwise the array delivers `acc + bias` as int32
and the cores requantize.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.requant import Requant
from uma_backends.neureka.job import Requantization

_INT32 = 1 << 31
# Clip ranges of the array's 8-bit output.
_UNSIGNED, _SIGNED = (0, 255), (-128, 127)
# Rules with a real factor that the array can only approximate.
_ROUNDING_RULES = ("tflite", "half_up", "half_even")


@dataclass(frozen=True)
class Arithmetic:
    """Constants and modes of one layer."""

    weights: np.ndarray  # signed, output channel first
    weight_bits: int
    weight_offset: int
    input_signed: bool
    zero_point: int
    scale: np.ndarray  # uint8 or uint32 [C_out]
    bias: np.ndarray  # int32 [C_out]
    requantization: Requantization
    output_bits: int
    native: bool
    # Largest difference to the framework's rule in units of the output; 0 when exact.
    deviation: int
    # Largest |accumulator + bias|.
    reach: int
    why_not_native: str = ""


def arithmetic_of(layer: Layer, *, native_rounding: bool) -> Arithmetic | str:
    """Arithmetic of a convolution or dense layer, or the reason why the array cannot do it."""
    x, weight = layer.inputs[0].spec, layer.inputs[1]
    if weight.data is None:
        return "its weights are not constant"
    if x.dtype not in ("int8", "uint8"):
        return f"its input is {x.dtype}, not 8-bit"
    values = weight.data.astype(np.int64)
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    bits = max(2, int(high - low).bit_length())
    if bits > 8:
        return f"its weights span {low} to {high}, more than 8 bits"
    zero_point = int(layer.attributes["zero_point"])
    channels = values.shape[0]
    flat = values.reshape(channels, -1)
    # Padding is written as the zero point, so the whole window always counts.
    bias = -zero_point * flat.sum(axis=1)
    if layer.attributes["has_bias"]:
        assert layer.inputs[2].data is not None
        bias = bias + layer.inputs[2].data.astype(np.int64)
    reach = np.abs(flat).sum(axis=1) * x.magnitude
    if (reach + np.abs(bias)).max(initial=0) >= _INT32:
        return "its accumulator may exceed 32 bits"
    scale, folded, how, deviation, reason = _fold(layer, reach, bias, native_rounding)
    return Arithmetic(
        values.astype(np.int16),
        bits,
        low,
        x.dtype == "int8",
        zero_point,
        scale,
        folded.astype(np.int32),
        how,
        8 if not reason else 32,
        not reason,
        deviation,
        int((reach + np.abs(bias)).max(initial=0)),
        reason,
    )


def _fold(layer: Layer, reach: np.ndarray, bias: np.ndarray, native_rounding: bool) -> tuple[Any, Any, Any, int, str]:
    rule = Requant.of(layer.attributes)
    ones = np.ones(len(bias), np.uint8)
    raw = Requantization(scale_bits=8, shift=0, bias=True, relu=False)
    if rule.kind == "none":
        return ones, bias, raw, 0, "it delivers 32-bit accumulators"
    if (rule.low, rule.high) not in (_UNSIGNED, _SIGNED):
        return ones, bias, raw, 0, f"it clips to {rule.low}..{rule.high}"
    first, second = (
        np.broadcast_to(t.data.astype(np.int64).reshape(-1), bias.shape)
        for t in layer.inputs[-2:]
        if t.data is not None
    )
    relu = (rule.low, rule.high) == _UNSIGNED
    if rule.kind == "pulp":
        mul, add, shift, deviation = first, second + bias * first, rule.shift, 0
        if (mul < 0).any():
            return ones, bias, raw, 0, "a multiplier is negative"
    elif rule.kind in _ROUNDING_RULES and native_rounding:
        folded = _fold_rounding(rule, first, second, reach + np.abs(bias))
        if folded is None:
            return ones, bias, raw, 0, "no single shift keeps the product inside 32 bits"
        mul, add, shift, deviation = folded[0], folded[1] + bias * folded[0], folded[2], folded[3]
    else:
        return ones, bias, raw, 0, f"{rule.kind} requantization rounds in a way the array cannot"
    if shift > 31:
        return ones, bias, raw, 0, f"it shifts by {shift}"
    if (reach * mul + np.abs(add)).max(initial=0) >= _INT32 or np.abs(add).max(initial=0) >= _INT32:
        return ones, bias, raw, 0, "the product may exceed 32 bits"
    bits = 8 if mul.max(initial=0) < 256 else 32
    scale = mul.astype(np.uint8 if bits == 8 else np.uint32)
    return scale, add, Requantization(scale_bits=bits, shift=shift, bias=True, relu=relu), deviation, ""


def _fold_rounding(rule: Requant, first: np.ndarray, second: np.ndarray, reach: np.ndarray) -> Any:
    """One integer scale per channel and one shift for the rule's real factors, and the proven deviation."""
    if rule.kind == "tflite":
        real = first * np.exp2(second.astype(np.float64) - 31)
        # The rule rounds to 32 bits before it shifts right: half a unit of what is shifted out.
        inexact = np.where(second < 0, 0.5 * np.exp2(second.astype(np.float64)), 0.0)
    else:
        real = first * np.exp2(-second.astype(np.float64))
        inexact = np.zeros(len(first))
    for shift in range(31, 0, -1):
        scale = np.round(real * 2.0**shift).astype(np.int64)
        # The array floors: half a unit makes it round half up.
        add = (rule.zero_point << shift) + (1 << (shift - 1))
        if (reach * scale + abs(add)).max(initial=0) < _INT32 and scale.max(initial=0) < 1 << 32:
            drift = reach * np.abs(scale / 2.0**shift - real)
            return scale, np.full(len(first), add), shift, _deviation(rule.kind, drift, inexact)
    return None


def _deviation(kind: str, drift: np.ndarray, inexact: np.ndarray) -> int:
    """Most units by which rounding a value and rounding half up a value `drift` away can differ.

    Two integers that are each within half a unit of values `drift` apart differ by at most 1 + drift. Where both round
    half up, rounding is one monotone function and they differ by at most the next integer above the drift.
    """
    if kind == "half_up":
        return int(np.ceil(drift - 1e-9).max(initial=0))
    return int(np.floor(1 + drift + inexact + 1e-9).max(initial=0))
