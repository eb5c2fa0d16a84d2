"""Element-wise arithmetic of a quantize/dequantize graph."""

from collections.abc import Callable, Sequence
from typing import Any

from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize import qdq_unary
from tvm_pulp.canonicalize.qdq_rewriter import IntegerTarget, QdqRewriter, QuantizedTensor
from tvm_pulp.canonicalize.rewriter import is_op, needed, or_none, require, spec_of


def requantize(fold: QdqRewriter, x: QuantizedTensor, target: IntegerTarget) -> Any:
    """From one quantization to another; nothing at all where both are the same."""
    low, high = spec_of(x.value).range
    if x.same_as(target.scale, target.zero_point) and x.dtype == target.dtype:
        return x.value if target.low <= low and high <= target.high else clip(x.value, target.low, target.high)
    rule, constants = fold.arithmetic.rescale(x, target)
    if fold.arithmetic.name == "onnx" and x.dtype in qnn.BYTES:
        exact = target.quantize(x.every_value)
        if (rule.apply(x.every_distance, constants) != exact).any():
            # Float32 rounds some value differently: only a table says it exactly.
            return qnn.emit("lookup", [x.value, exact])
    attributes = {**rule.attributes(), "zero_point": x.zero_point, "axis": -1}
    return qnn.emit("requantize", [x.value, *constants], attributes)


def clip(value: Any, low: int, high: int) -> Any:
    """Integers limited to a range, written as the requantization that changes nothing else."""
    rule = qnn.Requant("pulp", 0, 0, low, high, wide=False, dtype=spec_of(value).dtype)
    one, zero = relax.const([1], "int32"), relax.const([0], "int32")
    return qnn.emit("requantize", [value, one, zero], {**rule.attributes(), "zero_point": 0, "axis": -1})


@or_none
def add(fold: QdqRewriter, call: Any, target: IntegerTarget) -> Any:
    a, b = (needed(fold.quantized(arg)) for arg in call.args)
    attributes, constants = fold.arithmetic.add(a, b, target, subtract=is_op(call, "relax.subtract"))
    return qnn.emit("add", [a.value, b.value, *constants], attributes)


def extreme(operator: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Larger or smaller of two operands: rounding is monotone, so both are quantized first."""

    @or_none
    def rule(fold: QdqRewriter, call: Any, target: IntegerTarget) -> Any:
        # One constant beside a tensor is a table.
        require(all(held is None or held.size != 1 for held in map(fold.real_constant, call.args)))
        return operator(*_at_target(fold, call.args, target))

    return rule


@or_none
def where(fold: QdqRewriter, call: Any, target: IntegerTarget) -> Any:
    """A choice between two operands is a choice between their integers."""
    return relax.op.where(call.args[0], *_at_target(fold, call.args[1:], target))


def _at_target(fold: QdqRewriter, operands: Sequence[Any], target: IntegerTarget) -> list[Any]:
    """Both operands, of which one is not constant, in the result's quantization."""
    known = [fold.real_constant(operand) for operand in operands]
    require(any(held is None for held in known))
    found = []
    for operand, held in zip(operands, known, strict=True):
        x = fold.quantized(operand)
        if held is not None:
            found.append(relax.const(target.quantize(held)))
        elif x is not None:
            found.append(fold.bound(requantize(fold, x, target)))
        else:
            found.append(fold.bound(needed(qdq_unary.lookup(fold, operand, target))))
    return found


@or_none
def multiply(fold: QdqRewriter, call: Any, target: IntegerTarget) -> Any:
    a, b = (needed(fold.quantized(arg)) for arg in call.args)
    require(a.reach * b.reach < 1 << 31)
    ratio = fold.arithmetic.product_ratio(a.scale, b.scale, target.scale)
    rule, constants = fold.arithmetic.requant(ratio, target)
    attributes = {**rule.attributes(), "zero_point_a": a.zero_point, "zero_point_b": b.zero_point}
    return qnn.emit("mul", [a.value, b.value, *constants], attributes)
