"""Element-wise arithmetic of a quantize/dequantize graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize import qdq_unary
from tvm_pulp.canonicalize.qdq_operands import IntegerTarget, Quantized
from tvm_pulp.qnn.operator import spec_of

if TYPE_CHECKING:
    from tvm_pulp.canonicalize.qdq_rewriter import QdqRewriter


def requantize(fold: QdqRewriter, x: Quantized, target: IntegerTarget) -> Any:
    """From one quantization to another; nothing at all where both are the same."""
    spec = spec_of(x.value)
    low, high = spec.range
    if x.same_as(target.scale, target.zero_point) and spec.dtype == target.dtype:
        return x.value if target.low <= low and high <= target.high else clip(x.value, target.low, target.high)
    rule, constants = fold.arithmetic.rescale(x, target)
    if fold.arithmetic.name == "onnx" and spec.dtype in ("int8", "uint8"):
        every = np.arange(low, high + 1) - x.zero_point
        exact = target.quantize(x.every_value)
        if (rule.apply(every, constants) != exact).any():
            # Float32 rounds some value differently: only a table says it exactly.
            return qnn.emit("lookup", [x.value, relax.const(exact)])
    attributes = {**rule.attributes(), "zero_point": x.zero_point, "axis": -1}
    return qnn.emit("requantize", [x.value, *(relax.const(c) for c in constants)], attributes)


def clip(value: Any, low: int, high: int) -> Any:
    """Integers limited to a range, written as the requantization that changes nothing else."""
    rule = qnn.Requant("pulp", 0, 0, low, high, wide=False, dtype=spec_of(value).dtype)
    one, zero = relax.const([1], "int32"), relax.const([0], "int32")
    return qnn.emit("requantize", [value, one, zero], {**rule.attributes(), "zero_point": 0, "axis": -1})


def add(fold: QdqRewriter, call: Any, target: IntegerTarget) -> Any:
    return _sum(fold, call, target, subtract=False)


def subtract(fold: QdqRewriter, call: Any, target: IntegerTarget) -> Any:
    return _sum(fold, call, target, subtract=True)


def _sum(fold: QdqRewriter, call: Any, target: IntegerTarget, subtract: bool) -> Any:
    a, b = (fold.operands.quantized(arg) for arg in call.args)
    if a is None or b is None:
        return None
    attributes, constants = fold.arithmetic.add(a, b, target, subtract)
    return qnn.emit("add", [a.value, b.value, *(relax.const(c) for c in constants)], attributes)


def extreme(operator: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Larger or smaller of two operands: rounding is monotone, so both are quantized first."""

    def rule(fold: QdqRewriter, call: Any, target: IntegerTarget) -> Any:
        both = _at_target(fold, call.args, target)
        return None if both is None else operator(*both)

    return rule


def where(fold: QdqRewriter, call: Any, target: IntegerTarget) -> Any:
    """A choice between two operands is a choice between their integers."""
    both = _at_target(fold, call.args[1:], target, single=True)
    return None if both is None else relax.op.where(call.args[0], *both)


def _at_target(
    fold: QdqRewriter, operands: Sequence[Any], target: IntegerTarget, *, single: bool = False
) -> list[Any] | None:
    """Both operands in the result's quantization; None also for a single constant unless wanted: a table does that."""
    found: list[Any] = []
    for operand in operands:
        x, real = fold.operands.quantized(operand), fold.operands.real_constant(operand)
        if real is not None and real.size == 1 and not single:
            return None
        if real is not None:
            found.append(relax.const(target.quantize(real)))
        elif x is not None:
            found.append(fold.bound(requantize(fold, x, target)))
        else:
            table = qdq_unary.lookup(fold, operand, target)
            if table is None:
                return None
            found.append(fold.bound(table))
    return found if any(fold.operands.real_constant(o) is None for o in operands) else None


def multiply(fold: QdqRewriter, call: Any, target: IntegerTarget) -> Any:
    a, b = (fold.operands.quantized(arg) for arg in call.args)
    if a is None or b is None:
        return None
    if a.reach * b.reach >= 1 << 31:
        return None
    ratio = fold.arithmetic.product_ratio(a.scale, b.scale, target.scale)
    rule, constants = fold.arithmetic.requant(ratio, target)
    attributes = {**rule.attributes(), "zero_point_a": a.zero_point, "zero_point_b": b.zero_point}
    return qnn.emit("mul", [a.value, b.value, *(relax.const(c) for c in constants)], attributes)
