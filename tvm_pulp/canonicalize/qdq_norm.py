"""LayerNorm and RMSNorm of a quantize/dequantize graph: single operators, or written node by node.

Exporters decompose normalizations, and a quantizer that knows sums and products but neither roots nor means puts
quantizations in between. What is found here is always rows of the last axis:

    N = x  or  x - mean(x)                    S = mean(N^2), sometimes quantized
    N / root(S + epsilon)  or  N * inverse root, sometimes quantized, then times a vector, plus a vector

A norm whose result is quantized is an operator already when the product with the weights comes: it is extended then.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tvm_pulp import qnn
from tvm_pulp.canonicalize import qdq_unary
from tvm_pulp.canonicalize.qdq_rewriter import IntegerTarget, QdqRewriter, Quantized, target_of
from tvm_pulp.canonicalize.rewriter import Mismatch, constant, is_op, needed, or_none, require, single_value, spec_of
from tvm_pulp.qnn.qdq_norm import QdqNormAttributes, limits_of, stage_operands

# Sums of squares stay inside 32 bits, and n * x is exact in single precision.
_LONGEST_ROW = 1 << 15
# Stages that the operator's kernel has.
_MOST_STAGES = 2
# The inverse of zero, as it is stored.
_HUGE = 1e30


@dataclass
class _Norm:
    """The operator under construction: what was quantized is closed, what follows is open."""

    x: Quantized
    attributes: dict[str, Any]
    table: np.ndarray | None = None
    stages: list[list[np.ndarray | None]] = field(default_factory=list)
    limits: list[tuple[int, int] | None] = field(default_factory=lambda: [None])
    gain: float = 1.0
    is_open: bool = True
    # The step of the last quantization.
    unit: float = 1.0

    @property
    def length(self) -> int:
        return self.x.shape[-1]

    def multiply(self, factor: np.ndarray) -> None:
        if not self.stages and self.is_open and factor.size == 1:
            self.gain *= float(factor.reshape(-1)[0])
            return
        weight, bias = self._stage()
        self.stages[-1] = [weight * factor, None if bias is None else bias * factor]

    def add(self, summand: np.ndarray) -> None:
        weight, bias = self._stage()
        self.stages[-1] = [weight, summand + (0.0 if bias is None else bias)]

    def _stage(self) -> list[Any]:
        if not self.stages or not self.is_open:
            self.stages.append([np.full(self.length, self.unit), None])
            self.limits.append(None)
            self.unit, self.is_open = 1.0, True
        return self.stages[-1]

    def call(self, target: IntegerTarget) -> Any:
        """The operator with its result quantized."""
        self.multiply(np.array([1 / float(target.scale)]))
        self.limits[-1] = (target.low - target.zero_point, target.high - target.zero_point)
        arguments = []
        attributes = {**self.attributes, "gain": float(np.float32(self.attributes["gain"] * self.gain))}
        if self.table is not None:
            arguments.append(self.table * self.gain)
        for weight, bias in self.stages:
            arguments += [np.broadcast_to(t, (self.length,)) for t in (weight, bias) if t is not None]
        attributes |= {
            "biases": [int(bias is not None) for _, bias in self.stages],
            "rounds": [int(pair is not None) for pair in self.limits],
            "low": [pair[0] if pair else 0 for pair in self.limits],
            "high": [pair[1] if pair else 0 for pair in self.limits],
            "zero_point": target.zero_point,
            "dtype": target.dtype,
        }
        return qnn.emit("qdq_norm", [self.x.value, *(a.astype(np.float32) for a in arguments)], attributes)


@or_none
def norm(fold: QdqRewriter, real: Any, target: IntegerTarget) -> Any:
    """The island that ends in `real` as one normalization, or None."""
    require(target.dtype in qnn.BYTES)
    found = needed(_chain(fold, real))
    require(len(found.stages) <= _MOST_STAGES)
    return found.call(target)


@or_none
def _chain(fold: QdqRewriter, real: Any) -> _Norm:
    """A norm, then products with and sums of constants along the last axis."""
    call = fold.definition(real)
    if is_op(call, "relax.nn.layer_norm", "relax.nn.rms_norm"):
        return _operator(fold, call)
    for name in ("multiply", "add"):
        if is_op(call, f"relax.{name}"):
            for inner, other in (call.args, reversed(call.args)):
                vector = _vector(fold, other, spec_of(call).shape)
                found = None if vector is None else _chain(fold, inner) or _resumed(fold, inner)
                if found is not None and vector is not None:
                    getattr(found, name)(vector)
                    return found
    return _core(fold, call)


@or_none
def _vector(fold: QdqRewriter, expression: Any, shape: tuple[int, ...]) -> np.ndarray:
    """A constant that changes along the last axis only."""
    array = needed(fold.real_constant(expression))
    require(array.dtype == np.float32 and (array.size == 1 or array.shape[-1:] == (array.size,) == shape[-1:]))
    return array.reshape(-1).astype(np.float64)


@or_none
def _resumed(fold: QdqRewriter, expression: Any) -> _Norm:
    """A norm that was quantized and goes on."""
    y = needed(fold.quantized(expression))
    call: Any = fold.definition(y.value)
    require(qnn.is_qnn(call, "qdq_norm"))
    attributes = qnn.attributes(call, QdqNormAttributes)
    table, stages = stage_operands(attributes, [None, *(constant(a) for a in call.args[1:])])
    x = Quantized(call.args[0], np.float32(1), 0)
    done = [list(s) for s in stages]
    return _Norm(x, dict(attributes), table, done, limits_of(attributes), is_open=False, unit=float(y.scale))


def _operator(fold: QdqRewriter, call: Any) -> _Norm:
    x = needed(fold.quantized(call.args[0]))
    weight, *bias = (needed(fold.real_constant(a)).astype(np.float64) for a in call.args[1:])
    require([int(a) % len(x.shape) for a in call.attrs.axes] == [len(x.shape) - 1])
    found = _started(x, is_op(call, "relax.nn.layer_norm"), float(call.attrs.epsilon))
    found.multiply(weight)
    if bias and bias[0].any():
        found.add(bias[0])
    return found


def _started(x: Quantized, centred: bool, epsilon: float) -> _Norm:
    require(x.dtype in qnn.BYTES and x.shape and x.shape[-1] <= _LONGEST_ROW)
    n, step = x.shape[-1], float(x.scale)
    attributes = {
        "centred": int(centred),
        "zero_point_x": x.zero_point,
        "has_table": 0,
        "statistic": float(np.float32(step**2 / (n * n if centred else n))),
        "epsilon": float(np.float32(epsilon)),
        "gain": step / n if centred else step,
        "index_limits": [0, 0],
    }
    return _Norm(x, attributes)


def _core(fold: QdqRewriter, call: Any) -> _Norm:
    """N / root or N * inverse root."""
    if is_op(call, "relax.divide"):
        return needed(_scaled(fold, call.args[0], call.args[1], divides=True))
    require(is_op(call, "relax.multiply"))
    for data, factor in (call.args, reversed(call.args)):
        found = _scaled(fold, data, factor, divides=False)
        if found is not None:
            return found
    raise Mismatch


@or_none
def _scaled(fold: QdqRewriter, data: Any, factor: Any, *, divides: bool) -> _Norm:
    shape, (x, centred) = spec_of(factor).shape, needed(_numerator(fold, data))
    require(len(shape) == len(x.shape) and shape[-1] == 1)
    under = _under_root(fold, factor, inverse=not divides)
    if under is not None and _is_mean_square(fold, under[0], x, centred):
        return _started(x, centred, under[1])
    return _tabulated(fold, x, centred, factor, divides=divides)


def _tabulated(fold: QdqRewriter, x: Quantized, centred: bool, factor: Any, *, divides: bool) -> _Norm:
    """The graph quantizes the mean: its 256 values have 256 factors."""
    leaf, values = needed(qdq_unary.function_of_byte(fold, factor))
    quantize = fold.definition(leaf)
    require(is_op(quantize, "relax.quantize"))
    target = needed(target_of(quantize))
    require(_is_mean_square(fold, quantize.args[0], x, centred))
    norm = _started(x, centred, 0.0)
    values = np.broadcast_to(values, (256,)).astype(np.float64)
    with np.errstate(divide="ignore"):
        values = 1 / values if divides else values
    norm.table = np.nan_to_num(values, nan=0.0, posinf=_HUGE, neginf=-_HUGE) * norm.attributes["gain"]
    statistic = np.float32(norm.attributes["statistic"] / float(target.scale))
    limits = [target.low - target.zero_point, target.high - target.zero_point]
    norm.attributes |= {"has_table": 1, "gain": 1.0, "statistic": float(statistic), "index_limits": limits}
    return norm


@or_none
def _numerator(fold: QdqRewriter, expression: Any) -> tuple[Quantized, bool]:
    """x, or x less its mean; and whether it is the second."""
    x = fold.quantized(expression)
    if x is not None:
        return x, False
    call = fold.definition(expression)
    require(is_op(call, "relax.subtract"))
    mean = fold.definition(call.args[1])
    require(_over_last(mean, "relax.mean") and mean.args[0].same_as(call.args[0]))
    return needed(fold.quantized(call.args[0])), True


def _over_last(call: Any, name: str) -> bool:
    """Tell if a reduction goes over the last axis and keeps it."""
    if not is_op(call, name) or call.attrs.axis is None or not bool(call.attrs.keepdims):
        return False
    rank = len(spec_of(call.args[0]).shape)
    return [int(a) % rank for a in call.attrs.axis] == [rank - 1]


@or_none
def _under_root(fold: QdqRewriter, expression: Any, *, inverse: bool) -> tuple[Any, float]:
    """M and epsilon of root(M + epsilon), or of its inverse."""
    call = fold.definition(expression)
    if inverse and is_op(call, "relax.divide"):
        require(fold.is_all(call.args[0], 1))
        return needed(_under_root(fold, call.args[1], inverse=False))
    if is_op(call, "relax.power"):
        require(fold.is_all(call.args[1], -0.5 if inverse else 0.5))
    else:
        require(is_op(call, "relax.rsqrt" if inverse else "relax.sqrt"))
    total = fold.definition(call.args[0])
    if not is_op(total, "relax.add"):
        return call.args[0], 0.0
    for mean, other in (total.args, reversed(total.args)):
        epsilon = single_value(fold.real_constant(other))
        if epsilon is not None:
            return mean, float(epsilon)
    raise Mismatch


def _is_mean_square(fold: QdqRewriter, expression: Any, x: Quantized, centred: bool) -> bool:
    """Tell if an expression is the mean of N^2 for this N."""
    call = fold.definition(expression)
    if centred and _over_last(call, "relax.variance"):
        return _is(fold.quantized(call.args[0]), x)
    square: Any = fold.definition(call.args[0]) if _over_last(call, "relax.mean") else None
    if not _is_square(fold, square):
        return False
    found = _numerator(fold, square.args[0])
    return found is not None and found[1] == centred and _is(found[0], x)


def _is_square(fold: QdqRewriter, call: Any) -> bool:
    if is_op(call, "relax.power"):
        return fold.is_all(call.args[1], 2)
    if is_op(call, "relax.multiply"):
        return bool(call.args[0].same_as(call.args[1]))
    return is_op(call, "relax.square")


def _is(found: Quantized | None, x: Quantized) -> bool:
    return found is not None and found.value.same_as(x.value) and found.same_as(x.scale, x.zero_point)
