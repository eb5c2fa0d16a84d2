"""ONNX's arithmetic: real numbers rounded once, half to even.

DequantizeLinear and QuantizeLinear compute in float32. Here the accumulator is exact and the product with the scales'
ratio is rounded once from 31-bit precision, so a result differs from onnxruntime's only where float32 itself was within
its own rounding error of a tie: by one, and rarely.

Scales that are short decimals (0.05, 0.1) make ties frequent: a tenth of all sums, a twentieth of all averages.
Functions of one tensor are exact even then, because they are tables computed in float32. A sum or an average of several
values is not: the rounding errors of float32 decide each tie one way or the other, which no integer multiplier can
follow. (Exact rational arithmetic with ties to even agrees no more often for averages, a little more for sums.)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvm_pulp.canonicalize.qdq_arithmetic import Arithmetic, Rule
from tvm_pulp.canonicalize.qdq_operands import IntegerTarget, Quantized, QuantizedConstant, Real
from tvm_pulp.qnn import softmax_table
from tvm_pulp.qnn.fixed_point import tie_free_multipliers
from tvm_pulp.qnn.tensor_spec import BYTES

# A stored bias counts as being in units of the accumulator when its scale is this close to the product of scales.
_SAME_SCALE = 1e-5


@dataclass(frozen=True)
class OnnxArithmetic(Arithmetic):
    """Single rounding, half to even."""

    name = "onnx"
    rounding = "half_even"
    # A product with a constant factor is part of the scale.
    folds_factors = True

    def bound(self, value: float, target: IntegerTarget) -> int:
        if math.isinf(value):
            return target.high if value > 0 else target.low
        rounded = np.rint(np.float32(value) / np.float32(target.scale))
        return target.zero_point + int(np.clip(rounded, -(1 << 30), 1 << 30))

    dense = Arithmetic.layer

    def product_ratio(self, a: np.float32, b: np.float32, y: Real) -> np.ndarray:
        return np.array([float(a) * float(b) / float(y)])

    def bias(self, real: np.ndarray, held: QuantizedConstant | None, scale: np.ndarray) -> np.ndarray | None:
        """Stored integers where their scale is the accumulator's, else the nearest: at most half a unit away."""
        if held is not None and (np.abs(held.scale.astype(np.float64) - scale) <= _SAME_SCALE * scale).all():
            return held.values.astype(np.int64) - held.zero_point
        with np.errstate(over="ignore", invalid="ignore"):
            rounded = np.rint(real.astype(np.float64) / scale)
        return rounded.astype(np.int64) if np.abs(rounded).max(initial=0) < 1 << 31 else None

    def add(
        self, a: Quantized, b: Quantized, target: IntegerTarget, subtract: bool
    ) -> tuple[dict[str, Any], Sequence[Any]]:
        ratios = [float(a.scale) / float(target.scale), float(b.scale) / float(target.scale)]
        shift = max(1, min(30 - math.frexp(max(ratios))[1], 50))
        multipliers = [round(math.ldexp(r, shift)) for r in ratios]
        signed = [multipliers[0], -multipliers[1] if subtract else multipliers[1]]
        shared = self.sum_attributes(a, b, "half_even", target.requant("half_even"))
        return shared | {"multipliers": signed, "shift": shift}, []

    def softmax(self, x: Quantized, target: IntegerTarget) -> tuple[dict[str, Any], Sequence[np.ndarray]] | None:
        bits = softmax_table.fraction_bits(x.shape[-1])
        if bits is None or x.dtype not in BYTES or target.dtype not in BYTES:
            return None
        limits = {"zero_point": target.zero_point, "low": target.low, "high": target.high, "dtype": target.dtype}
        attributes = {"form": "table", "gain": softmax_table.gain(float(target.scale)), **limits}
        return attributes, [softmax_table.exponentials(float(x.scale), bits)]

    def mean(self, x: Quantized, count: int, target: IntegerTarget) -> Rule:
        return self.requant(np.array([float(x.scale) / (float(target.scale) * count)]), target)

    def window_mean(self, x: Quantized, counts: np.ndarray, target: IntegerTarget) -> Rule:
        """Rule with one multiplier per number of values in a window; the first entry is never used."""
        ratio = float(x.scale) / (float(target.scale) * np.maximum(counts, 1))
        return target.requant("half_even"), list(tie_free_multipliers(ratio))
