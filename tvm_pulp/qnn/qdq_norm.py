"""LayerNorm and RMSNorm of a quantize/dequantize graph: 8-bit rows in and out, single precision inside.

Operands: x[..., n], [table[256],] then for every stage weight[n] and, where it has one, bias[n] (all float32). Per row,
with a = n * x - sum(x) if `centred`, else a = x - zero_point_x:

    spread = n * sum(x^2) - sum(x)^2  if `centred`, else sum(a^2)
    factor = table[round(spread * statistic)]                 with a table: the graph quantizes the statistic
    factor = gain / sqrt(spread * statistic + epsilon)        without
    v = a * factor;  per stage: v = v * weight + bias

`rounds`, `low` and `high` have one entry for v and one per stage: where `rounds` is 1, the graph quantizes and v is the
nearest integer from low to high (zero points taken out). The last is the result, to which `zero_point` is added.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tvm_pulp.qnn.either import inverse_root, real_of, round_within, single
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, i32, i64, register
from tvm_pulp.qnn.tiles import BY_ROW
from tvm_pulp.quick_records import quick_record


@quick_record(kw_only=True, slots=False)
class FactorAttributes(Attributes):
    """The spread of a row in real units, and the factor that a root is divided into."""

    statistic: float
    gain: float
    epsilon: float


@quick_record(kw_only=True, slots=False)
class QdqNormAttributes(FactorAttributes):
    """`index_limits` belong to the table."""

    biases: tuple[bool, ...]
    centred: bool
    dtype: str
    has_table: bool
    high: tuple[int, ...]
    low: tuple[int, ...]
    rounds: tuple[bool, ...]
    index_limits: tuple[int, int] = (0, 0)
    zero_point: int = 0
    zero_point_x: int = 0


def stage_operands(attributes: QdqNormAttributes, values: Sequence[Any]) -> tuple[Any, list[tuple[Any, Any]]]:
    """Table or None, and weight and bias (or None) of every stage."""
    rest = list(values[1:])
    table = rest.pop(0) if attributes.has_table else None
    stages = []
    for has_bias in attributes.biases:
        weight = rest.pop(0)
        stages.append((weight, rest.pop(0) if has_bias else None))
    return table, stages


def limits_of(attributes: QdqNormAttributes) -> list[tuple[int, int] | None]:
    """Lowest and highest value of v and after every stage, None where it is not rounded."""
    every = zip(attributes.rounds, attributes.low, attributes.high, strict=True)
    return [(low, high) if rounds else None for rounds, low, high in every]


def factor_of(attributes: FactorAttributes, spread: Any, table: Any = None) -> Any:
    """The factor of every value of a row."""
    statistic = real_of(spread) * single(attributes.statistic)
    if table is not None:
        assert isinstance(attributes, QdqNormAttributes)
        low, high = attributes.index_limits
        return table[round_within(statistic, low, high) - low]
    return single(attributes.gain) * inverse_root(statistic + single(attributes.epsilon))


def _result(
    attributes: QdqNormAttributes,
    value: Any,
    stages: Sequence[tuple[Any, Any]],
    bound: Callable[[Any], Any] = lambda v: v,
) -> Any:
    """All stages of a value; `bound` names what is rounded."""
    for limits, (weight, bias) in zip(limits_of(attributes), [*stages, (None, None)], strict=True):
        if limits:
            value = bound(round_within(value, *limits))
            value = value if weight is None else value.astype("float32")
        if weight is not None:
            value = value * weight
        if bias is not None:
            value = value + bias
    return (value + attributes.zero_point).astype(attributes.dtype)


@register(
    "qdq_norm",
    attributes=QdqNormAttributes,
    tile=BY_ROW,
    single_precision=True,
)
class QdqNorm(Operator[QdqNormAttributes]):
    def reference(self, attributes: QdqNormAttributes, inputs: Arrays) -> np.ndarray:
        x, n = inputs[0].astype(np.int64), inputs[0].shape[-1]
        table, stages = stage_operands(attributes, inputs)
        if attributes.centred:
            total = x.sum(-1, keepdims=True)
            a, spread = n * x - total, n * (x * x).sum(-1, keepdims=True) - total * total
        else:
            a = x - attributes.zero_point_x
            spread = (a * a).sum(-1, keepdims=True)
        return np.asarray(_result(attributes, a.astype(np.float32) * factor_of(attributes, spread, table), stages))

    def body(self, loops: Loops, attributes: QdqNormAttributes, inputs: Specs, output: TensorSpec) -> None:
        length = inputs[0].shape[-1]
        buffers = [loops.buffer("x", inputs[0].rows), *(loops.buffer("constant", s) for s in inputs[1:])]
        x, (table, stages) = buffers[0], stage_operands(attributes, buffers)
        y, centred = loops.buffer("y", output.rows), bool(attributes.centred)
        with loops.parallel("row", output.elements // length) as row:
            total, squares = loops.scalar("total", 0), loops.scalar("squares", 0)
            with loops.loop("i", length) as i:
                element = loops.bind("element", i32(x[row, i]) - (0 if centred else attributes.zero_point_x))
                total.set(total.value + element)
                squares.set(squares.value + element * element)
            spread = i64(squares.value)
            if centred:
                spread = i64(length) * spread - i64(total.value) * i64(total.value)
            factor = loops.bind("factor", factor_of(attributes, spread, table))
            with loops.loop("i", length) as i:
                element = i32(x[row, i])
                a = i32(length) * element - total.value if centred else element - attributes.zero_point_x
                own = [(weight[i], None if bias is None else bias[i]) for weight, bias in stages]
                value = a.astype("float32") * factor
                loops.store(y, [row, i], _result(attributes, value, own, lambda v: loops.bind("rounded", v)))
