"""Pass: attention of a quantize/dequantize graph becomes its parts again, whose products the engine runs.

Expects canonical form. Guarantees the same results: factors of single precision become integer multipliers that round
every sum alike; where there is none, or the engine cannot tell a product's sums exactly, attention stays as it is.

    qdq_attention(q, k, v)   becomes   matmul(softmax([lookup](matmul(q, k))), v)
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.permute import swapped
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, needed, require, spec_of
from tvm_pulp.qnn.qdq_attention import QdqAttentionAttributes, operands
from uma_backends.ita.float_rounding import Rounding, rounding_like
from uma_backends.ita.matmul import product_digits
from uma_backends.ita.signed_operands import MOVED

_LOWEST = -128


class PartedAttention(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        require(qnn.is_qnn(value, "qdq_attention"))
        a, of = (
            qnn.attributes(value, QdqAttentionAttributes),
            operands(qnn.attributes(value, QdqAttentionAttributes), list(value.args)),
        )
        logits, mix, probability_zero = _parts(a, of)
        q, k, v = (self._heads(a, name, of) for name in "qkv")
        scores = self.emit(logits.call(self, q, k, transpose_b=1), "logits")
        count = a.logit_high - a.logit_low + 1
        table = constant(of["table"])[0, :count].astype(np.int64)
        # Only distances to the largest count: a table that moves all values by as much is none.
        if (table - table[0] != np.arange(count)).any():
            scores = self.emit(qnn.emit("lookup", [scores, relax.const(constant(of["table"])[0])]), "scaled")
        limits = {"low": probability_zero, "high": a.probability_high + probability_zero}
        attributes = {"form": "table", "gain": a.gain, "zero_point": probability_zero, "dtype": "int8", **limits}
        weights = self.emit(qnn.emit("softmax", [scores, of["exponential"]], attributes), "probabilities")
        mixed = mix.call(self, weights, v, transpose_b=0)
        return mixed if a.y_layout == "hsd" else swapped(self.emit(mixed, "mixed"))

    def _heads(self, a: QdqAttentionAttributes, name: str, of: dict[str, Any]) -> Any:
        """An operand as [1, heads, positions, size] of int8."""
        x, heads, size = of[name], a.heads, a.size
        positions, stride = _positions(a, name), a[f"{name}_stride"]
        if f"{name}_table" in of:
            x = self.emit(qnn.emit("lookup", [x, of[f"{name}_table"]]))
        if spec_of(x).dtype == "uint8":
            x = self.emit(qnn.emit("lookup", [x, relax.const(MOVED)]))
        if stride == size and heads > 1:
            return self.emit(relax.op.reshape(x, (1, heads, positions, size)))
        if stride > heads * size:
            x = self.emit(relax.op.reshape(x, (positions, stride)))
            cut = {"begin": [0, a[f"{name}_offset"]], "stride": [1, 1], "size": [positions, heads * size]}
            x = self.emit(qnn.emit("slice", [x], cut))
        x = self.emit(relax.op.reshape(x, (1, positions, heads, size)))
        return self.emit(swapped(x), f"{name}_heads")


@dataclass(frozen=True)
class _Product:
    """A product of attention: its rounding, zero points of its operands, and its rule."""

    rounding: Rounding
    zero_points: tuple[int, int]
    rule: qnn.Requant

    @property
    def constants(self) -> list[np.ndarray]:
        return [np.array([n], np.int32) for n in (self.rounding.multiplier, self.rounding.shift)]

    @property
    def first_rule(self) -> qnn.Requant:
        """The requantization of the product itself: to the fraction, where there are two roundings."""
        fraction, rule = self.rounding.fraction, self.rule
        if not fraction:
            return rule
        low, high = (limit - rule.zero_point << fraction for limit in (rule.low, rule.high))
        return qnn.Requant("half_even", 0, 0, low, high, dtype="int32")

    def call(self, pass_: Rewriter, left: Any, right: Any, *, transpose_b: int) -> Any:
        points = {"zero_point_a": self.zero_points[0], "zero_point_b": self.zero_points[1]}
        attributes = {**points, "transpose_b": transpose_b, **self.first_rule.attributes()}
        made = qnn.emit("matmul", [left, right, *self.constants], attributes)
        if not self.rounding.fraction:
            return made
        rounded = [np.array([n], np.int32) for n in (1, self.rounding.fraction)]
        attributes = {"zero_point": 0, "axis": 3, **self.rule.attributes()}
        return qnn.emit("requantize", [pass_.emit(made, "fractions"), *rounded], attributes)


def _parts(a: QdqAttentionAttributes, of: dict[str, Any]) -> tuple[_Product, _Product, int]:
    """Products of logits and of values, whose sums must leave the engine exactly, and the zero of probabilities."""
    require(not a.has_mask and a.group == 1 and all(_is_regular(a, name, of) for name in "qkv"))
    require(a.probability_high <= 255 and a.logit_high - a.logit_low <= 255)
    roundings = (("logit_scale", "logit_low", "logit_high"), ("value_scale", "low", "high"))
    first_rounding, second_rounding = (needed(rounding_like(*(a[name] for name in names))) for names in roundings)
    points = {name: _zero_point(a, name, of) for name in "qkv"}
    first = _LOWEST - a.logit_low
    rule = qnn.Requant("half_even", 0, first, _LOWEST, a.logit_high + first, dtype="int8")
    logits = _Product(first_rounding, (points["q"], points["k"]), rule)
    probability_zero = 0 if a.probability_high <= 127 else _LOWEST
    zero = a.zero_point
    rule = qnn.Requant("half_even", 0, zero, a.low + zero, a.high + zero, dtype=a.dtype)
    mix = _Product(second_rounding, (probability_zero, points["v"]), rule)
    for product, depth in ((logits, a.size), (mix, a.key_count)):
        product_digits(product.first_rule, product.constants, depth, product.zero_points)
    return logits, mix, probability_zero


def _positions(a: QdqAttentionAttributes, name: str) -> int:
    return int(a.queries if name == "q" else a.key_count)


def _zero_point(a: QdqAttentionAttributes, name: str, of: dict[str, Any]) -> int:
    """Of an operand as int8."""
    dtype = spec_of(of.get(f"{name}_table", of[name])).dtype
    return int(a[f"zero_point_{name}"]) + (_LOWEST if dtype == "uint8" else 0)


def _is_regular(a: QdqAttentionAttributes, name: str, of: dict[str, Any]) -> bool:
    """Tell if heads lie one behind the other, or side by side in rows that have nothing or neighbours around them."""
    heads, size, positions, elements = a.heads, a.size, _positions(a, name), spec_of(of[name]).elements
    offset, head_stride, stride = (a[f"{name}_{n}"] for n in ("offset", "head_stride", "stride"))
    if stride == size and heads > 1:
        return offset == 0 and head_stride == positions * size and elements == heads * positions * size
    beside = heads == 1 or head_stride == size
    return bool(
        beside and stride >= heads * size and offset + heads * size <= stride and elements == positions * stride
    )
