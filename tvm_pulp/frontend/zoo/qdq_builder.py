"""Builds networks as QDQ ONNX: float operators between QuantizeLinear and DequantizeLinear.

Each call appends nodes and computes them on calibration data, so that every scale is chosen from what really arrives.
Scales keep a few bits only: another machine's last float digit must not change a model.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvm_pulp.frontend.zoo.onnx_graph import GraphWriter

_SCALE_BITS = 8


def short_scale(largest: float, steps: int) -> float:
    """A scale of a few bits whose `steps` steps just cover `largest`."""
    mantissa, exponent = math.frexp(largest / steps)
    return math.ldexp(math.ceil(mantissa * (1 << _SCALE_BITS)), exponent - _SCALE_BITS)


@dataclass(frozen=True, eq=False)
class QdqValue:
    """A float value of the graph with its calibration data, batch first; quantized ones know their integers' name."""

    name: str
    values: np.ndarray
    integers: str = ""
    scale: float = 0.0
    zero_point: int = 0
    dtype: str = ""


class QdqBuilder(GraphWriter):
    """A network under construction."""

    def input(self, name: str, samples: Sequence[np.ndarray]) -> QdqValue:
        """An int8 graph input; one step is 1/32."""
        self.declare_input(name, "int8", samples[0].shape)
        return self._dequantized(name, name, np.concatenate(samples).astype(np.float64) / 32, 1 / 32, 0, "int8")

    def output(self, value: QdqValue) -> None:
        """Make a quantized value a graph output, as integers."""
        self.outputs.append(value)
        self.declare_output(value.integers, value.dtype, [1, *value.values.shape[1:]])

    def _parameters(self, name: str, scale: float, zero_point: int, dtype: str) -> list[str]:
        zero = np.asarray(zero_point, dtype)
        return [self.constant(f"{name}_scale", np.float32(scale)), self.constant(f"{name}_zero", zero)]

    def _dequantized(
        self, name: str, integers: str, values: np.ndarray, scale: float, zero_point: int, dtype: str
    ) -> QdqValue:
        self.node("DequantizeLinear", [integers, *self._parameters(name, scale, zero_point, dtype)], f"{name}_real")
        return QdqValue(f"{name}_real", values, integers, scale, zero_point, dtype)

    def quantized(self, name: str, value: QdqValue, like: QdqValue | None = None) -> QdqValue:
        """Quantize and dequantize: unsigned for values that are never negative, with a zero point where skewed."""
        low, high = min(float(value.values.min()), 0.0), max(float(value.values.max()), 1e-6)
        if like is not None:
            dtype, scale, zero_point = like.dtype, like.scale, like.zero_point
        elif low == 0.0:
            dtype, scale, zero_point = "uint8", short_scale(high, 255), 0
        elif -low < 0.5 * high:
            dtype, scale = "int8", short_scale(high - low, 254)
            zero_point = -127 + round(-low / scale)
        else:
            dtype, scale, zero_point = "int8", short_scale(max(-low, high), 127), 0
        limits = np.iinfo(dtype)
        rounded = np.clip(np.rint(value.values / scale) + zero_point, limits.min, limits.max)
        self.node("QuantizeLinear", [value.name, *self._parameters(f"{name}_to", scale, zero_point, dtype)], name)
        return self._dequantized(name, name, (rounded - zero_point) * scale, scale, zero_point, dtype)

    def weight(self, name: str, rows: int, columns: int) -> tuple[str, np.ndarray, np.ndarray]:
        """A matrix of int8 with one scale per column: (name of the float matrix, its values, the scales)."""
        real = self.random(name).normal(rows, columns) / math.sqrt(rows)
        scales = np.array([short_scale(float(s), self._weight_limit) for s in np.abs(real).max(axis=0)])
        integers = np.rint(real / scales).astype(np.int8)
        operands = [self.constant(name, integers), self.constant(f"{name}_scale", scales.astype(np.float32))]
        operands.append(self.constant(f"{name}_zero", np.zeros(columns, np.int8)))
        return self.node("DequantizeLinear", operands, f"{name}_real", axis=1), integers * scales, scales

    def linear(self, name: str, x: QdqValue, columns: int, bias: bool = True) -> QdqValue:
        """MatMul with quantized weights and, optionally, a bias in units of the accumulator."""
        matrix, values, scales = self.weight(f"{name}_weight", x.values.shape[-1], columns)
        product = self.node("MatMul", [x.name, matrix], f"{name}_product")
        total = x.values @ values
        if bias:
            units = np.float32(x.scale) * scales.astype(np.float32)
            stored = np.rint(0.1 * self.random(f"{name}_bias").normal(columns) / units).astype(np.int32)
            operands = [self.constant(f"{name}_bias", stored), self.constant(f"{name}_bias_scale", units)]
            real = self.node("DequantizeLinear", operands, f"{name}_bias_real", axis=0)
            product = self.node("Add", [product, real], f"{name}_sum")
            total = total + stored * units.astype(np.float64)
        return self.quantized(name, QdqValue(product, total))

    def apply(self, op: str, name: str, values: np.ndarray, *operands: QdqValue, **attributes: Any) -> QdqValue:
        """A float operator whose result the caller has computed; not quantized."""
        return QdqValue(self.node(op, [o.name for o in operands], f"{name}_{op.lower()}", **attributes), values)

    def add(self, name: str, a: QdqValue, b: QdqValue) -> QdqValue:
        return self.quantized(name, self.apply("Add", name, a.values + b.values, a, b))

    def multiply(self, name: str, a: QdqValue, b: QdqValue) -> QdqValue:
        return self.quantized(name, self.apply("Mul", name, a.values * b.values, a, b))

    def matmul(self, name: str, a: QdqValue, b: QdqValue) -> QdqValue:
        return self.quantized(name, self.apply("MatMul", name, a.values @ b.values, a, b))

    def moved(self, op: str, name: str, x: QdqValue, values: np.ndarray, *shape: int, **attributes: Any) -> QdqValue:
        """Reshape or Transpose, between quantizations of the same scale as exporters write them."""
        operands = [x.name]
        if op == "Reshape":
            operands.append(self.constant(f"{name}_shape", np.array([1, *shape], np.int64)))
        return self.quantized(name, QdqValue(self.node(op, operands, f"{name}_moved", **attributes), values), like=x)

    def heads(self, name: str, x: QdqValue, heads: int, *axes: int) -> QdqValue:
        """[batch, tokens, width] as [batch, tokens, heads, width / heads], then permuted."""
        batch, tokens, width = x.values.shape
        split = x.values.reshape(batch, tokens, heads, width // heads)
        apart = self.moved("Reshape", f"{name}_split", x, split, tokens, heads, width // heads)
        return self.moved("Transpose", f"{name}_heads", apart, split.transpose(axes), perm=list(axes))

    def softmax(self, name: str, scores: QdqValue, divisor: float) -> QdqValue:
        """Softmax of scaled scores over the last axis."""
        scaled = scores.values / divisor
        divided = self.node("Div", [scores.name, self.constant(f"{name}_root", np.float32(divisor))], f"{name}_scaled")
        logits = self.quantized(f"{name}_logits", QdqValue(divided, scaled))
        e = np.exp(logits.values - logits.values.max(axis=-1, keepdims=True))
        weights = self.apply("Softmax", name, e / e.sum(axis=-1, keepdims=True), logits, axis=-1)
        return self.quantized(name, weights)
