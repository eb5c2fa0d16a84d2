"""Averages over windows and axes and softmax of a quantize/dequantize graph."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.qdq_movement import window
from tvm_pulp.canonicalize.qdq_operands import IntegerTarget, Quantized
from tvm_pulp.qnn.operator import spec_of

if TYPE_CHECKING:
    from tvm_pulp.canonicalize.qdq_rewriter import QdqRewriter


def avg_pool(fold: QdqRewriter, call: Any, target: IntegerTarget) -> Any:
    x, attributes = fold.operands.quantized(call.args[0]), window(call)
    if x is None or attributes is None or bool(call.attrs.ceil_mode):
        return None
    taps = math.prod(attributes["kernel"])
    full = bool(call.attrs.count_include_pad) or not any(attributes["pads"])
    counts = np.array([taps]) if full else np.arange(taps + 1)
    return _pooled(fold, x, attributes, counts, target)


def avg_pool1d(fold: QdqRewriter, call: Any, target: IntegerTarget) -> Any:
    x, attributes = fold.operands.quantized(call.args[0]), window(call)
    if x is None or attributes is None or bool(call.attrs.ceil_mode):
        return None
    n, c, length = x.shape
    flat = fold.emit(relax.op.reshape(x.value, (n, c, 1, length)))
    taps = math.prod(attributes["kernel"])
    full = bool(call.attrs.count_include_pad) or not any(attributes["pads"])
    counts = np.array([taps]) if full else np.arange(taps + 1)
    pooled = _pooled(fold, Quantized(flat, x.scale, x.zero_point), attributes, counts, target)
    return None if pooled is None else relax.op.reshape(fold.emit(pooled), spec_of(call).shape)


def _pooled(
    fold: QdqRewriter, x: Quantized, attributes: dict[str, Any], counts: np.ndarray, target: IntegerTarget
) -> Any:
    found = fold.arithmetic.window_mean(x, counts, target)
    if found is None:
        return None
    rule, constants = found
    values = {**attributes, **rule.attributes(), "zero_point": x.zero_point}
    return qnn.emit("avg_pool", [x.value, *(relax.const(c) for c in constants)], values)


def mean(fold: QdqRewriter, call: Any, target: IntegerTarget) -> Any:
    x = fold.operands.quantized(call.args[0])
    if x is None:
        return None
    rank = len(x.shape)
    axes = sorted(int(a) % rank for a in call.attrs.axis) if call.attrs.axis is not None else list(range(rank))
    count = math.prod(x.shape[a] for a in axes)
    if count * 2 * spec_of(x.value).magnitude >= 1 << 31:
        return None
    if rank == 4 and axes == [2, 3]:
        # Channels first: a pool over the whole image keeps its layout free.
        whole = {"layout": "NCHW", "kernel": list(x.shape[2:]), "strides": [1, 1], "dilation": [1, 1], "pads": [0] * 4}
        pooled = _pooled(fold, x, whole, np.array([count]), target)
        if pooled is not None:
            return pooled if bool(call.attrs.keepdims) else relax.op.reshape(fold.emit(pooled), spec_of(call).shape)
    values = {"axes": axes, "keepdims": int(call.attrs.keepdims), "kind": "sum"}
    total = fold.emit(qnn.emit("reduce", [x.value], values))
    rule, constants = fold.arithmetic.mean(x, count, target)
    attributes = {**rule.attributes(), "zero_point": x.zero_point * count, "axis": -1}
    return qnn.emit("requantize", [total, *(relax.const(c) for c in constants)], attributes)


def softmax(fold: QdqRewriter, call: Any, target: IntegerTarget) -> Any:
    x = fold.operands.quantized(call.args[0])
    if x is None:
        return None
    # The dialect's softmax runs over the last axis: swap it with the one wanted.
    last = len(x.shape) - 1
    axis = int(call.attrs.axis) % len(x.shape)
    axes = list(range(len(x.shape)))
    axes[axis], axes[last] = last, axis
    rows = x if axis == last else Quantized(fold.emit(_transposed(x.value, axes)), x.scale, x.zero_point)
    found = fold.arithmetic.softmax(rows, target)
    if found is None:
        return None
    attributes, tables = found
    result = qnn.emit("softmax", [rows.value, *(relax.const(t) for t in tables)], attributes)
    return result if axis == last else _transposed(fold.emit(result), axes)


def _transposed(value: Any, axes: list[int]) -> Any:
    return qnn.emit("transpose", [value], {"axes": axes})
