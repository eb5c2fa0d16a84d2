"""Whose arithmetic a quantize/dequantize graph follows when it becomes integers: TFLite's reference kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvm_pulp.canonicalize.qdq_operands import IntegerTarget, Quantized, QuantizedConstant, Real
from tvm_pulp.qnn import softmax_tflite
from tvm_pulp.qnn.add import LEFT_SHIFT, LEFT_SHIFT_16
from tvm_pulp.qnn.fixed_point import quantize_multiplier, quantize_multipliers, single_rounding_multipliers
from tvm_pulp.qnn.requant import Requant

# A rule and its constant tensors.
Rule = tuple[Requant, list[np.ndarray]]
_BYTES = ("int8", "uint8")


def _rule(kind: str, target: IntegerTarget) -> Requant:
    return Requant(kind, 0, target.zero_point, target.low, target.high, dtype=target.dtype)


@dataclass(frozen=True)
class TfliteArithmetic:
    """Fixed-point multipliers with two roundings; which products are rounded to float32 follows TFLite's `Prepare`."""

    name = "tflite"
    folds_factors = False

    def bound(self, value: float, target: IntegerTarget) -> int:
        """A float bound of an activation as an integer."""
        quotient = float(np.float32(value) / target.scale)
        return target.zero_point + int(np.sign(quotient) * np.floor(abs(quotient) + 0.5))

    def requant(self, ratio: np.ndarray, target: IntegerTarget) -> Rule:
        """Rule that multiplies by `ratio`, one element or one per channel."""
        ratio = np.asarray(ratio, np.float64).reshape(-1)
        if (ratio == ratio[0]).all():
            ratio = ratio[:1]
        rule = _rule("tflite", target)
        return rule, list(quantize_multipliers(ratio))

    def rescale(self, x: Quantized, target: IntegerTarget) -> Rule:
        """Rule from one quantization to another."""
        return self.requant(np.array([float(x.scale) / float(target.scale)]), target)

    def layer(self, x: Quantized, weight: np.ndarray, target: IntegerTarget) -> Rule:
        """Rule of a convolution or of products; `weight` holds one scale or one per output channel."""
        ratio = self.conv_ratio(x.scale, weight, target.scale)
        return self.requant(ratio, target) if x.dtype in _BYTES else self._of_wide_sums(ratio, target)

    def _of_wide_sums(self, ratio: np.ndarray, target: IntegerTarget) -> Rule:
        """Kernels of 16-bit activations sum in 64 bits and multiply by 15 bits, rounded once, half up."""
        ratio = ratio[:1] if (ratio == ratio[0]).all() else ratio
        multipliers, exponents = (t.astype(np.int64) for t in quantize_multipliers(ratio))
        short = np.where(multipliers < 0x7FFF0000, (multipliers + (1 << 15)) >> 16, 0x7FFF)
        return _rule("half_up", target), [short.astype(np.int32), (15 - exponents).astype(np.int32)]

    def dense(self, x: Quantized, weight: np.ndarray, target: IntegerTarget) -> Rule:
        """Rule of a fully connected layer: the reference kernel rounds once, half up, unlike all others."""
        ratio = self.conv_ratio(x.scale, weight, target.scale)
        if (weight == weight[0]).all():
            # The product of the two scales is a float32 in this kernel.
            ratio = np.array([float(np.float32(x.scale) * np.float32(weight[0])) / float(target.scale)])
        rule = _rule("half_up", target)
        return rule, list(single_rounding_multipliers(ratio))

    def conv_ratio(self, x: np.float32, weight: np.ndarray, y: Real) -> np.ndarray:
        return np.asarray(np.float64(x) * weight.astype(np.float64) / np.float64(y))

    def product_ratio(self, a: np.float32, b: np.float32, y: Real) -> np.ndarray:
        return np.array([float(np.float32(a) * np.float32(b) / np.float32(y))])

    def bias(self, real: np.ndarray, held: QuantizedConstant | None, scale: np.ndarray) -> np.ndarray | None:
        """Integers of a bias; a file that stores a float bias is not integer-only."""
        return None if held is None else held.centred.astype(np.int64)

    def add(
        self, a: Quantized, b: Quantized, target: IntegerTarget, subtract: bool
    ) -> tuple[dict[str, Any], Sequence[Any]]:
        """Attributes and constant tensors of `add`."""
        twice, bits = 2.0 * float(max(a.scale, b.scale)), LEFT_SHIFT if target.dtype in _BYTES else LEFT_SHIFT_16
        pairs = [quantize_multiplier(float(s) / twice) for s in (a.scale, b.scale)]
        rule, tensors = self.requant(np.array([twice / ((1 << bits) * float(target.scale))]), target)
        attributes = {
            "form": "tflite",
            "requant_a": "none",
            "requant_b": "none",
            "zero_point_a": a.zero_point,
            "zero_point_b": b.zero_point,
            "multipliers": [p[0] for p in pairs],
            "exponents": [p[1] for p in pairs],
            "subtract": int(subtract),
            "left_shift": bits,
            **rule.attributes(),
        }
        return attributes, tensors

    def softmax(self, x: Quantized, target: IntegerTarget) -> tuple[dict[str, Any], Sequence[np.ndarray]] | None:
        """Attributes and tables of `softmax`, or None where TFLite has no such kernel."""
        if target.dtype != "int8" or target.zero_point != -128 or target.scale != np.float32(1 / 256):
            return None
        return {"form": "tflite", **softmax_tflite.parameters(float(x.scale), 1.0)}, []

    def mean(self, x: Quantized, count: int, target: IntegerTarget) -> Rule:
        """Rule that turns the sum of `count` values into their mean, as the kernel folds the division."""
        multiplier, exponent = quantize_multiplier(float(x.scale) / float(target.scale))
        shift = min(count.bit_length() - 1, 32, 31 + exponent)
        tensors = [np.array([(multiplier << shift) // count], np.int32), np.array([exponent - shift], np.int32)]
        return _rule("tflite", target), tensors

    def window_mean(self, x: Quantized, counts: np.ndarray, target: IntegerTarget) -> Rule | None:
        """TFLite pools integers without changing their scale; a float pool does not occur."""
        return None
