"""Element-wise operators: their loop nest, and all but the formula of those that are requantized."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.either import maximum, minimum, rounded
from tvm_pulp.qnn.loops import call, i32, i64, less
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Requant, Specs, Stated, TensorSpec, register
from tvm_pulp.qnn.record import PairAttributes, Requantized, Rounded
from tvm_pulp.qnn.rows import clip_levels, levels_dtype
from tvm_pulp.qnn.tiles import elementwise
from tvm_pulp.quick_records import quick_record


def broadcast_shape(*shapes: Sequence[int]) -> tuple[int, ...]:
    """Common shape of several operands."""
    return tuple(int(d) for d in np.broadcast_shapes(*(tuple(s) for s in shapes)))


def broadcast_index(shape: Sequence[int], indices: Sequence[Any]) -> list[Any]:
    """Indices at which an operand of `shape` is read for the result's `indices`."""
    tail = indices[len(indices) - len(shape) :]
    return [i32(0) if size == 1 else index for size, index in zip(shape, tail, strict=True)] or [i32(0)]


@contextmanager
def over(loops: Loops, shape: Sequence[int]) -> Iterator[list[Any]]:
    """Indices of every element. The outer axes are one parallel loop, the last axis the inner loop."""
    if not shape:  # a scalar
        with loops.parallel("i", 1):
            yield []
        return
    inner = shape[-1]
    outer = math.prod(shape[:-1])
    if outer == 1:
        with loops.parallel("i", inner) as i:
            yield [*([i32(0)] * (len(shape) - 1)), i]
        return
    with loops.parallel("place", outer) as place:
        lead = loops.unravel("outer", place, shape[:-1])
        with loops.loop("i", inner) as i:
            yield [*lead, i]


class Elementwise(Operator[Stated]):
    """Element by element, with broadcasting: a value of the data operands, requantized where there is a rule."""

    def data_names(self, attributes: Stated) -> list[str]:
        """Names of the data operands."""
        return self.operand_names.split()

    def value(self, attributes: Stated, *operands: Any) -> Any:
        """The result before requantization, of 64-bit integers in numpy."""
        raise NotImplementedError

    def expression(self, attributes: Stated, *operands: Any) -> Any:
        """The same in TIR, of 32-bit integers."""
        return self.value(attributes, *operands)

    def infer(self, attributes: Stated, inputs: Specs) -> TensorSpec:
        data = inputs[: len(self.data_names(attributes))]
        return TensorSpec(broadcast_shape(*(spec.shape for spec in data)), self.result_type(attributes))

    def reference(self, attributes: Stated, inputs: Arrays) -> np.ndarray:
        count, rule = len(self.data_names(attributes)), Requant.of(attributes)
        value = np.asarray(self.value(attributes, *(x.astype(np.int64) for x in inputs[:count])))
        value = rule.apply(value, inputs[count:], getattr(attributes, "axis", -1)) if rule.operands else value
        return value.astype(self.result_type(attributes))

    def body(self, loops: Loops, attributes: Stated, inputs: Specs, output: TensorSpec) -> None:
        names, axis = self.data_names(attributes), getattr(attributes, "axis", -1)
        data, constants = list(inputs[: len(names)]), inputs[len(names) :]
        if all(spec.shape == output.shape for spec in data) and all(o.elements == 1 for o in constants):
            # Every operand is read in the order it is stored: one flat loop.
            output, data, axis = output.flat, [spec.flat for spec in data], -1
        buffers = loops.buffers(" ".join(names), data)
        tensors = loops.buffers("mul add", constants)
        y = loops.buffer("y", output)
        with over(loops, output.shape) as indices:
            read = [i32(b[tuple(broadcast_index(spec.shape, indices))]) for b, spec in zip(buffers, data, strict=True)]
            value = self.expression(attributes, *read)
            loops.store(y, indices, Requant.of(attributes).expression(value, tensors, indices[axis]))


@register("mul", attributes=PairAttributes, operands="a b", tile=elementwise(2))
class Mul(Elementwise[PairAttributes]):
    """Element-wise product of two tensors, zero points removed, requantized."""

    def value(self, attributes: PairAttributes, *operands: Any) -> Any:
        a, b = operands
        return less(a, attributes.zero_point_a) * less(b, attributes.zero_point_b)


@register("sub", attributes=PairAttributes, operands="a b", tile=elementwise(2))
class Sub(Elementwise[PairAttributes]):
    """Element-wise difference of two integer tensors, requantized."""

    def value(self, attributes: PairAttributes, *operands: Any) -> Any:
        a, b = operands
        return less(a, attributes.zero_point_a) - less(b, attributes.zero_point_b)


@quick_record(kw_only=True, slots=False)
class RequantizeAttributes(Requantized):
    """Constants of several values run along `axis`; `reach` bounds the operand where an engine knows better."""

    axis: int = -1
    zero_point: int = 0
    reach: int | None = None


@register("requantize", attributes=RequantizeAttributes, operands="x", tile=elementwise(1))
class Requantize(Elementwise[RequantizeAttributes]):
    """Requantization on its own: x scaled, shifted and clipped. Per-channel constants run along `axis`."""

    def value(self, attributes: RequantizeAttributes, *operands: Any) -> Any:
        return less(operands[0], attributes.zero_point)


@quick_record(kw_only=True, slots=False)
class GeluAttributes(Requantized):
    """Constants of the polynomial."""

    b: int
    one: int


@register("gelu", attributes=GeluAttributes, operands="x", tile=elementwise(1))
class Gelu(Elementwise[GeluAttributes]):
    """Integer GELU by a clipped second-order polynomial, requantized.

    d = min(|x|, -b) + b;  L = sign(x) * (one - d*d);  y = x * ((one + L) >> 1)
    """

    def value(self, attributes: GeluAttributes, *operands: Any) -> Any:
        (x,), b, one = operands, attributes.b, attributes.one
        d = np.minimum(np.abs(x), -b) + b
        return x * ((one + np.sign(x) * (one - d * d)) >> 1)

    def expression(self, attributes: GeluAttributes, *operands: Any) -> Any:
        return call("gelu", *operands, attributes.b, attributes.one)


@quick_record(kw_only=True, slots=False)
class HardswishAttributes(Requantized):
    """Constants in units of the input and of the result."""

    one_over_six: int
    six: int
    three: int


@register("hardswish", attributes=HardswishAttributes, operands="x", tile=elementwise(1))
class Hardswish(Elementwise[HardswishAttributes]):
    """Integer hardswish: `x * (clip(x + three, 0, six) * one_over_six)`, requantized."""

    def value(self, attributes: HardswishAttributes, *operands: Any) -> Any:
        (x,) = operands
        return x * (minimum(maximum(x + attributes.three, 0), attributes.six) * attributes.one_over_six)


@quick_record(kw_only=True, slots=False)
class IntegerDivAttributes(Requantized):
    """`denominator` belongs to one operand, `eps` and `eta` to two."""

    operands: int
    numerator: int
    denominator: int = 1
    eps: int = 0
    eta: int = 0


@register("integer_div", attributes=IntegerDivAttributes, tile=elementwise())
class IntegerDiv(Elementwise[IntegerDivAttributes]):
    """Integer division with the PULP dialect's scaling.

    One operand (`TrueIntegerDiv`): floor(x * numerator / denominator), both constants. Two operands (`IntegerDiv`): a *
    numerator / (b * eta + eps): half the divisor is added with the sign of the numerator, then truncated, which rounds
    half away from zero where the divisor is positive.
    """

    def data_names(self, attributes: IntegerDivAttributes) -> list[str]:
        return ["x"] if attributes.operands == 1 else ["a", "b"]

    def value(self, attributes: IntegerDivAttributes, *operands: Any) -> Any:
        numerator = operands[0] * attributes.numerator
        if len(operands) == 1:
            return numerator // attributes.denominator
        divisor = operands[1] * attributes.eta + attributes.eps
        rounded = numerator + np.where(numerator < 0, -(divisor // 2), divisor // 2)
        return np.sign(rounded) * (np.abs(rounded) // np.abs(divisor)) * np.sign(divisor)

    def expression(self, attributes: IntegerDivAttributes, *operands: Any) -> Any:
        numerator = i64(operands[0]) * i64(attributes.numerator)
        if len(operands) == 1:
            return call("floor_divide", numerator, i64(attributes.denominator))
        return call("round_divide", numerator, i64(operands[1]) * i64(attributes.eta) + i64(attributes.eps))


@quick_record(kw_only=True, slots=False)
class NoNormAttributes(Attributes):
    """Scale and levels of the result."""

    levels: int
    mul: int
    shift: int


@register("no_norm", attributes=NoNormAttributes, operands="x weight bias", tile=elementwise(3))
class NoNorm(Elementwise[NoNormAttributes]):
    """Affine replacement of a normalization, element by element: clip(((x * weight + bias) * mul) // D).

    Operands: x, weight (broadcast), bias (broadcast). D = 2^shift floors.
    """

    def result_type(self, attributes: NoNormAttributes) -> str:
        return levels_dtype(attributes.levels)

    def value(self, attributes: NoNormAttributes, *operands: Any) -> Any:
        x, weight, bias = operands
        return clip_levels(((x * weight + bias) * attributes.mul) >> attributes.shift, attributes.levels)

    def expression(self, attributes: NoNormAttributes, *operands: Any) -> Any:
        x, weight, bias = (i64(value) for value in operands)
        value = tirx.shift_right((x * weight + bias) * i64(attributes.mul), i64(attributes.shift))
        half = attributes.levels // 2
        return call("clip_wide", value, -half, half - 1).astype(self.result_type(attributes))


@quick_record(kw_only=True, slots=False)
class QdqMulAttributes(Rounded):
    """Zero points of both operands, and what a unit of their product is in units of the result."""

    scale: float
    zero_point_a: int
    zero_point_b: int


@register(
    "qdq_mul",
    attributes=QdqMulAttributes,
    operands="a b",
    tile=elementwise(2),
    single_precision=True,
)
class QdqMul(Elementwise[QdqMulAttributes]):
    """Element-wise product of two 8-bit tensors of a quantize/dequantize graph, single precision inside.

    y = round((a - zero_point_a) * (b - zero_point_b) * scale), from low to high, plus zero_point
    """

    def value(self, attributes: QdqMulAttributes, *operands: Any) -> Any:
        exact = (operands[0] - attributes.zero_point_a) * (operands[1] - attributes.zero_point_b)
        return rounded(exact.astype("float32") * attributes.scale, attributes)
