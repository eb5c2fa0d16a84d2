"""Linear and cubic resizing of a quantize/dequantize graph.

The importer writes a resize as what it is: a sum of picked rows and columns, each times a constant weight. Whatever
has this form, and weights that add up to one, is a resize of integers.

    quantize(take(x, low) * (1 - w) + take(x, high) * w)   becomes   resize(x, indices, weights)
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tvm_pulp import qnn
from tvm_pulp.canonicalize.qdq_rewriter import IntegerTarget, QdqRewriter, QuantizedTensor
from tvm_pulp.canonicalize.rewriter import constant, is_op, needed, or_none, require, spec_of
from tvm_pulp.qnn.fixed_point import single_rounding_multiplier

# Weights with this few bits are exact; all others are rounded to as many as 32-bit sums leave room for.
_EXACT_BITS = 8
_ROW_BITS, _MIDDLE = 15, 7
_FRACTION = {"int8": 23, "uint8": 22}
_MOST_TERMS = 16
# How far a sum with rounded weights may be off, in units of the result.
_WEIGHT_ERROR = 2.0**-7
# Cubic sums are not followed to the last bit: with fewer bits than these their halves would be too frequent.
_FEW_BITS = 7
# Where both taps of an axis are one pixel, onnxruntime counts it half and half.
_HALF = np.float32(0.5)


@dataclass(frozen=True)
class _Term:
    """Picked places of a quantized tensor times weights, by axis."""

    source: QuantizedTensor
    picks: dict[int, np.ndarray] = field(default_factory=dict)
    weights: dict[int, np.ndarray] = field(default_factory=dict)

    def taken(self, indices: np.ndarray, axis: int) -> "_Term":
        places = self.picks.get(axis, np.arange(self.source.shape[axis]))[indices]
        weights = {a: w[indices] if a == axis else w for a, w in self.weights.items()}
        return replace(self, picks={**self.picks, axis: places}, weights=weights)

    def times(self, factors: np.ndarray, axis: int) -> "_Term":
        return replace(self, weights={**self.weights, axis: self.weights.get(axis, np.float32(1)) * factors})


Taps = list[tuple[np.ndarray, np.ndarray]]


@or_none
def resize(fold: QdqRewriter, call: Any, target: IntegerTarget) -> Any:
    """The integer form of a weighted sum of rows and columns, or None."""
    terms = _summands(fold, call)
    source, shape = terms[0].source, spec_of(call).shape
    require(all(t.source.value.same_as(source.value) for t in terms))
    require(source.dtype in _FRACTION and target.dtype in _FRACTION and len(shape) in (3, 4))
    taps = {axis: _taps(terms, axis, size) for axis, size in enumerate(shape)}
    moved = {axis for axis, found in taps.items() if not _is_identity(found, source.shape[axis])}
    require(moved and moved <= {2, 3} and len(terms) == np.prod([len(t) for t in taps.values()]))
    if len(shape) == 4:
        return _emit(source, taps[2], taps[3], target)
    one = [(np.zeros(1, np.int64), np.ones(1, np.float32))]
    return fold.shaped_like(call, _emit(fold.image(source), one, taps[2], target))


def _summands(fold: QdqRewriter, call: Any) -> list[_Term]:
    """The terms of both operands of a sum."""
    joined = [term for operand in call.args for term in _terms(fold, operand)]
    require(len(joined) <= _MOST_TERMS)
    return joined


def _terms(fold: QdqRewriter, real: Any) -> list[_Term]:
    x = fold.quantized(real)
    if x is not None:
        return [_unpicked(fold, x)]
    call = fold.definition(real)
    if is_op(call, "relax.add"):
        return _summands(fold, call)
    if is_op(call, "relax.take"):
        indices = needed(constant(call.args[1]))
        require(indices.ndim == 1 and call.attrs.axis is not None)
        axis = int(call.attrs.axis) % len(spec_of(call.args[0]).shape)
        return [t.taken(indices, axis) for t in _terms(fold, call.args[0])]
    require(is_op(call, "relax.multiply"))
    factors, shape = needed(constant(call.args[1])), spec_of(call).shape
    axes = [a for a, size in enumerate(factors.shape) if size > 1]
    require(factors.ndim == len(shape) and len(axes) <= 1)
    # One place along the axis: which axis does not matter as long as all summands agree.
    axis = axes[0] if axes else max(a for a, s in enumerate(shape) if s == 1 or a == 0)
    return [t.times(factors.reshape(-1), axis) for t in _terms(fold, call.args[0])]


def _unpicked(fold: QdqRewriter, x: QuantizedTensor) -> _Term:
    """A tensor that was picked from another one already."""
    call = fold.definition(x.value)
    if qnn.is_qnn(call, "gather") and constant(call.args[1]).ndim == 1:
        inner = _unpicked(fold, replace(x, value=call.args[0]))
        return inner.taken(constant(call.args[1]), qnn.attributes(call)["axis"])
    return _Term(x)


def _taps(terms: list[_Term], axis: int, size: int) -> Taps:
    """Different picks and weights of one axis, in order."""
    found: Taps = []
    for term in terms:
        pick = term.picks.get(axis, np.arange(size))
        weight = np.broadcast_to(term.weights.get(axis, np.ones(1, np.float32)), (size,))
        if not any((p == pick).all() and (w == weight).all() for p, w in found):
            found.append((pick, weight))
    return found


def _is_identity(taps: Taps, size: int) -> bool:
    return len(taps) == 1 and list(taps[0][0]) == list(range(size)) and bool((taps[0][1] == 1).all())


def _emit(x: QuantizedTensor, rows: Taps, columns: Taps, target: IntegerTarget) -> Any:
    is_linear = max(len(rows), len(columns)) <= 2
    tables = [_halved(taps) if is_linear else taps for taps in (rows, columns)]
    bits, middle = [b for b in map(_exact_bits, tables) if b is not None], 0
    if len(bits) < len(tables):
        bits, middle = [_ROW_BITS, _FRACTION[x.dtype] - (_ROW_BITS - _MIDDLE)], _MIDDLE
    require(all(_adds_up(taps) for taps in tables))
    weights = [_integers(taps, b) for taps, b in zip(tables, bits, strict=True)]
    fraction = sum(bits) - middle
    # Cubic weights overshoot: what they add up to without signs must leave the sum in 32 bits.
    swing = float(np.prod([np.abs(w).sum(axis=1).max() / (1 << b) for w, b in zip(weights, bits, strict=True)]))
    require(swing * 255 * 2.0**fraction < 1 << 31)
    same_scale = x.scale == target.scale
    require(not same_scale or is_linear or max(bits) >= _FEW_BITS)
    multiplier, shift = single_rounding_multiplier(float(x.scale) / float(target.scale) / (1 << fraction))
    ties = same_scale and is_linear and fraction > 0
    attributes = {
        **target.requant("half_even" if same_scale else "half_up").attributes(),
        "layout": "NCHW",
        "taps": [len(rows), len(columns)],
        "bits": bits,
        "middle": middle,
        "zero_point": x.zero_point,
        "ties": int(ties),
        "slack": int(_WEIGHT_ERROR * (1 << fraction)) if middle else 0,
    }
    indices = [np.stack([pick for pick, _ in taps], axis=1).astype(np.int32) for taps in tables]
    tensors = [indices[0], weights[0], indices[1], weights[1], *(np.array([v], np.int32) for v in (multiplier, shift))]
    if ties:
        tensors += [np.stack([weight for _, weight in taps], axis=1).astype(np.float32) for taps in tables]
        tensors += [x.every_value, _thresholds(np.float32(x.scale), target)]
    return qnn.emit("resize", [x.value, *tensors], attributes)


def _halved(taps: Taps) -> Taps:
    """Two taps on one pixel, half and half, as onnxruntime weighs them: the mean is the same, its rounding not."""
    if len(taps) != 2:
        return taps
    (low, first), (high, second) = taps
    same = low == high
    return [(low, np.where(same, _HALF, first)), (high, np.where(same, _HALF, second))]


def _exact_bits(taps: Taps) -> int | None:
    """The fewest bits with which all weights are integers, or None where that takes too many."""
    weights = np.stack([weight for _, weight in taps]).astype(np.float64)
    return next((b for b in range(_EXACT_BITS + 1) if (weights * (1 << b) == np.rint(weights * (1 << b))).all()), None)


def _adds_up(taps: Taps) -> bool:
    return bool((np.abs(np.sum([weight for _, weight in taps], axis=0) - 1) < 1e-4).all())


def _integers(taps: Taps, bits: int) -> np.ndarray:
    """Weights [size, taps] that add up to 2^bits."""
    weights = np.stack([weight for _, weight in taps], axis=1).astype(np.float64)
    rounded = np.rint(weights * (1 << bits)).astype(np.int64)
    largest = np.abs(rounded).argmax(axis=1)
    rounded[np.arange(len(rounded)), largest] += (1 << bits) - rounded.sum(axis=1)
    return rounded.astype(np.int32)


def _thresholds(scale: np.float32, target: IntegerTarget) -> np.ndarray:
    """For every integer of the result, the smallest float that is quantized to a larger one."""
    distances = qnn.every_value(target.dtype).astype(np.int64) - target.zero_point
    candidates = [((distances + 0.5) * np.float64(scale)).astype(np.float32)]
    for towards in (-np.inf, np.inf):
        step = candidates[0]
        for _ in range(4):
            step = np.nextafter(step, np.float32(towards))
            candidates.append(step)
    ordered = np.sort(np.stack(candidates), axis=0)
    larger = np.rint((ordered / scale).astype(np.float32)) >= distances + 1
    return np.asarray(np.take_along_axis(ordered, larger.argmax(axis=0)[None], axis=0)[0], np.float32)
