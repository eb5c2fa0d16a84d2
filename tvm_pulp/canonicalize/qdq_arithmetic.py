"""Arithmetic that a quantize/dequantize graph follows when it becomes integers: TFLite's reference kernels, or ONNX."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from tvm_pulp.canonicalize.finer_bias import FinerBias, RealSums, finer_bias
from tvm_pulp.canonicalize.qdq_operands import IntegerTarget, QuantizedConstant, QuantizedTensor, Real
from tvm_pulp.qnn import softmax_table, softmax_tflite
from tvm_pulp.qnn.add import LEFT_SHIFT, LEFT_SHIFT_16
from tvm_pulp.qnn.fixed_point import (
    quantize_multiplier,
    quantize_multipliers,
    single_rounding_multipliers,
    tie_free_multipliers,
)
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import BYTES

# A stored bias counts as being in units of the accumulator when its scale is this close to the product of scales.
_SAME_SCALE = 1e-5
# A rule and its constant tensors.
Rule = tuple[Requant, list[np.ndarray]]
# How the constants of a rounding are made of ratios.
_MULTIPLIERS = {"tflite": quantize_multipliers, "half_even": tie_free_multipliers}


class QdqArithmetic:
    """The rules that both kinds of files have in common: products with a ratio of scales."""

    # Rounding of products.
    rounding: ClassVar[str]

    def requant(self, ratio: np.ndarray, target: IntegerTarget) -> Rule:
        """Rule that multiplies by `ratio`, one element or one per channel."""
        return target.requant(self.rounding), list(_MULTIPLIERS[self.rounding](one_if_same(ratio)))

    def rescale(self, x: QuantizedTensor, target: IntegerTarget) -> Rule:
        """Rule from one quantization to another."""
        return self.requant(np.array([float(x.scale) / float(target.scale)]), target)

    def layer(self, x: QuantizedTensor, weight: np.ndarray, target: IntegerTarget) -> Rule:
        """Rule of a convolution or of products; `weight` holds one scale or one per output channel."""
        return self.requant(conv_ratio(x, weight, target), target)

    def sum_attributes(self, a: QuantizedTensor, b: QuantizedTensor, form: str, rule: Requant) -> dict[str, Any]:
        """Attributes that `add` has in every form."""
        plain = {"form": form, "requant_a": "none", "requant_b": "none"}
        return {**plain, "zero_point_a": a.zero_point, "zero_point_b": b.zero_point, **rule.attributes()}


def conv_ratio(x: QuantizedTensor, weight: np.ndarray, target: IntegerTarget) -> np.ndarray:
    """Units of the accumulator of every channel in units of the result."""
    return np.asarray(np.float64(x.scale) * weight.astype(np.float64) / np.float64(target.scale))


def one_if_same(ratio: np.ndarray) -> np.ndarray:
    """Ratios of all channels, or the one that all of them have."""
    ratio = np.asarray(ratio, np.float64).reshape(-1)
    return ratio[:1] if (ratio == ratio[0]).all() else ratio


class TfliteArithmetic(QdqArithmetic):
    """Fixed-point multipliers with two roundings; which products are rounded to float32 follows TFLite's `Prepare`."""

    name = "tflite"
    folds_factors = False
    rounding = "tflite"

    def bound(self, value: float, target: IntegerTarget) -> int:
        """A float bound of an activation as an integer."""
        quotient = float(np.float32(value) / target.scale)
        return target.zero_point + int(np.sign(quotient) * np.floor(abs(quotient) + 0.5))

    def layer(self, x: QuantizedTensor, weight: np.ndarray, target: IntegerTarget) -> Rule:
        """Kernels of 16-bit activations sum in 64 bits and multiply by 15 bits, rounded once, half up."""
        if x.dtype in BYTES:
            return super().layer(x, weight, target)
        ratio = one_if_same(conv_ratio(x, weight, target))
        multipliers, exponents = (t.astype(np.int64) for t in quantize_multipliers(ratio))
        short = np.minimum((multipliers + (1 << 15)) >> 16, 0x7FFF)
        return target.requant("half_up"), [short.astype(np.int32), (15 - exponents).astype(np.int32)]

    def dense(self, x: QuantizedTensor, weight: np.ndarray, target: IntegerTarget) -> Rule:
        """Rule of a fully connected layer: the reference kernel rounds once, half up, unlike all others."""
        ratio = conv_ratio(x, weight, target)
        if (weight == weight[0]).all():
            # The product of the two scales is a float32 in this kernel.
            ratio = np.array([float(np.float32(x.scale) * np.float32(weight[0])) / float(target.scale)])
        return target.requant("half_up"), list(single_rounding_multipliers(ratio))

    def product_ratio(self, a: np.float32, b: np.float32, y: Real) -> np.ndarray:
        return np.array([float(np.float32(a) * np.float32(b) / np.float32(y))])

    def bias(self, real: np.ndarray, held: QuantizedConstant | None, scale: np.ndarray) -> np.ndarray | None:
        """Integers of a bias; a file that stores a float bias is not integer-only."""
        return None if held is None else held.centred.astype(np.int64)

    def is_stored(self, held: QuantizedConstant, scale: np.ndarray) -> bool:
        """Tell if a bias is held as integers of the accumulator."""
        return True

    def float_bias(
        self, x: QuantizedTensor, weight: np.ndarray, bias: np.ndarray, target: IntegerTarget, ends: np.ndarray
    ) -> None:
        """TFLite's biases are integers."""

    def add(
        self, a: QuantizedTensor, b: QuantizedTensor, target: IntegerTarget, subtract: bool
    ) -> tuple[dict[str, Any], Sequence[Any]]:
        """Attributes and constant tensors of `add`."""
        twice, bits = 2.0 * float(max(a.scale, b.scale)), LEFT_SHIFT if target.dtype in BYTES else LEFT_SHIFT_16
        pairs = [quantize_multiplier(float(s) / twice) for s in (a.scale, b.scale)]
        rule, tensors = self.requant(np.array([twice / ((1 << bits) * float(target.scale))]), target)
        multipliers, exponents = ([pair[i] for pair in pairs] for i in (0, 1))
        attributes = {"multipliers": multipliers, "exponents": exponents, "subtract": int(subtract), "left_shift": bits}
        return self.sum_attributes(a, b, "tflite", rule) | attributes, tensors

    def softmax(self, x: QuantizedTensor, target: IntegerTarget) -> tuple[dict[str, Any], Sequence[np.ndarray]] | None:
        """Attributes and tables of `softmax`, or None where TFLite has no such kernel."""
        if target.dtype != "int8" or target.zero_point != -128 or target.scale != np.float32(1 / 256):
            return None
        return {"form": "tflite", **softmax_tflite.parameters(float(x.scale), 1.0)}, []

    def mean(self, x: QuantizedTensor, count: int, target: IntegerTarget) -> Rule:
        """Rule that turns the sum of `count` values into their mean, as the kernel folds the division."""
        multiplier, exponent = quantize_multiplier(float(x.scale) / float(target.scale))
        shift = min(count.bit_length() - 1, 32, 31 + exponent)
        tensors = [np.array([(multiplier << shift) // count], np.int32), np.array([exponent - shift], np.int32)]
        return target.requant("tflite"), tensors

    def window_mean(self, x: QuantizedTensor, counts: np.ndarray, target: IntegerTarget) -> Rule | None:
        """TFLite pools integers without changing their scale; a float pool does not occur."""
        return None


class OnnxArithmetic(QdqArithmetic):
    """Real numbers rounded once, half to even.

    DequantizeLinear and QuantizeLinear compute in float32. Here the accumulator is exact and the product with the
    scales' ratio is rounded once from 31-bit precision, so a result differs from onnxruntime's only where float32
    itself was within its own rounding error of a tie: by one, and rarely.

    Scales that are short decimals (0.05, 0.1) make ties frequent: a tenth of all sums, a twentieth of all averages.
    Functions of one tensor are exact even then, because they are tables computed in float32. A sum or an average of
    several values is not: the rounding errors of float32 decide each tie one way or the other, which no integer
    multiplier can follow. (Exact rational arithmetic with ties to even agrees no more often for averages, a little more
    for sums.)
    """

    name = "onnx"
    rounding = "half_even"
    # A product with a constant factor is part of the scale.
    folds_factors = True

    def bound(self, value: float, target: IntegerTarget) -> int:
        if math.isinf(value):
            return target.high if value > 0 else target.low
        rounded = np.rint(np.float32(value) / np.float32(target.scale))
        return target.zero_point + int(np.clip(rounded, -(1 << 30), 1 << 30))

    dense = QdqArithmetic.layer

    def product_ratio(self, a: np.float32, b: np.float32, y: Real) -> np.ndarray:
        return np.array([float(a) * float(b) / float(y)])

    def bias(self, real: np.ndarray, held: QuantizedConstant | None, scale: np.ndarray) -> np.ndarray | None:
        """Stored integers where their scale is the accumulator's, else the nearest: at most half a unit away."""
        if held is not None and self.is_stored(held, scale):
            return held.values.astype(np.int64) - held.zero_point
        with np.errstate(over="ignore", invalid="ignore"):
            rounded = np.rint(real.astype(np.float64) / scale)
        return rounded.astype(np.int64) if np.abs(rounded).max(initial=0) < 1 << 31 else None

    def is_stored(self, held: QuantizedConstant, scale: np.ndarray) -> bool:
        return bool((np.abs(held.scale.astype(np.float64) - scale) <= _SAME_SCALE * scale).all())

    def float_bias(
        self, x: QuantizedTensor, weight: np.ndarray, bias: np.ndarray, target: IntegerTarget, ends: np.ndarray
    ) -> FinerBias | None:
        """Rule, constants and integers for a bias of floats, of sums between `ends`; None where there is none."""
        if not np.isfinite(bias).all():
            return None
        step = Fraction(float(target.scale))
        units = [Fraction(float(x.scale)) * Fraction(float(w)) / step for w in weight]
        return finer_bias(RealSums(units, [Fraction(float(b)) / step for b in bias], *ends), target)

    def add(
        self, a: QuantizedTensor, b: QuantizedTensor, target: IntegerTarget, subtract: bool
    ) -> tuple[dict[str, Any], Sequence[Any]]:
        ratios = [float(a.scale) / float(target.scale), float(b.scale) / float(target.scale)]
        shift = max(1, min(30 - math.frexp(max(ratios))[1], 50))
        multipliers = [round(math.ldexp(r, shift)) for r in ratios]
        signed = [multipliers[0], -multipliers[1] if subtract else multipliers[1]]
        shared = self.sum_attributes(a, b, "half_even", target.requant("half_even"))
        return shared | {"multipliers": signed, "shift": shift}, []

    def softmax(self, x: QuantizedTensor, target: IntegerTarget) -> tuple[dict[str, Any], Sequence[np.ndarray]] | None:
        bits = softmax_table.fraction_bits(x.shape[-1])
        if bits is None or x.dtype not in BYTES or target.dtype not in BYTES:
            return None
        limits = {"zero_point": target.zero_point, "low": target.low, "high": target.high, "dtype": target.dtype}
        attributes = {"form": "table", "gain": softmax_table.gain(float(target.scale)), **limits}
        return attributes, [softmax_table.exponentials(float(x.scale), bits)]

    def mean(self, x: QuantizedTensor, count: int, target: IntegerTarget) -> Rule:
        return self.requant(np.array([float(x.scale) / (float(target.scale) * count)]), target)

    def window_mean(self, x: QuantizedTensor, counts: np.ndarray, target: IntegerTarget) -> Rule:
        """Rule with one multiplier per number of values in a window; the first entry is never used."""
        ratio = float(x.scale) / (float(target.scale) * np.maximum(counts, 1))
        return target.requant("half_even"), list(tie_free_multipliers(ratio))
