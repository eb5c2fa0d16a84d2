"""Averages over windows and axes and softmax of a quantize/dequantize graph."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from tvm_pulp import qnn
from tvm_pulp.canonicalize.qdq_movement import axes_of, whole_image, window
from tvm_pulp.canonicalize.qdq_rewriter import IntegerTarget, QdqRewriter, QuantizedTensor
from tvm_pulp.canonicalize.rewriter import needed, or_none, require, spec_of


@or_none
def avg_pool(fold: QdqRewriter, call: Any, target: IntegerTarget) -> Any:
    """The mean over windows of an image, or of a line of pixels."""
    x, attributes = needed(fold.quantized(call.args[0])), needed(window(call))
    require(not bool(call.attrs.ceil_mode))
    taps = math.prod(attributes["kernel"])
    full = bool(call.attrs.count_include_pad) or not any(attributes["pads"])
    counts = np.array([taps]) if full else np.arange(taps + 1)
    if len(x.shape) == 4:
        return _pooled(fold, x, attributes, counts, target)
    return fold.shaped_like(call, needed(_pooled(fold, fold.image(x), attributes, counts, target)))


@or_none
def _pooled(
    fold: QdqRewriter, x: QuantizedTensor, attributes: dict[str, Any], counts: np.ndarray, target: IntegerTarget
) -> Any:
    rule, constants = needed(fold.arithmetic.window_mean(x, counts, target))
    return qnn.emit("avg_pool", [x.value, *constants], {**attributes, **rule.attributes(), "zero_point": x.zero_point})


@or_none
def mean(fold: QdqRewriter, call: Any, target: IntegerTarget) -> Any:
    """The mean along axes: a pool over whole images, else a sum that is requantized."""
    x = needed(fold.quantized(call.args[0]))
    axes, keepdims = axes_of(call, range(len(x.shape))), bool(call.attrs.keepdims)
    count = math.prod(x.shape[a] for a in axes)
    require(count * 2 * spec_of(x.value).magnitude < 1 << 31)
    if len(x.shape) == 4 and axes == [2, 3]:
        # Channels first: a pool over the whole image keeps its layout free.
        pooled = _pooled(fold, x, whole_image(x.shape), np.array([count]), target)
        if pooled is not None:
            return pooled if keepdims else fold.shaped_like(call, pooled)
    total = fold.emit(qnn.emit("reduce", [x.value], {"axes": axes, "keepdims": int(keepdims), "kind": "sum"}))
    rule, constants = fold.arithmetic.mean(x, count, target)
    attributes = {**rule.attributes(), "zero_point": x.zero_point * count, "axis": -1}
    return qnn.emit("requantize", [total, *constants], attributes)


@or_none
def softmax(fold: QdqRewriter, call: Any, target: IntegerTarget) -> Any:
    """Softmax along any axis; the dialect's runs over the last, which is swapped with the one wanted."""
    x = needed(fold.quantized(call.args[0]))
    last, axis = len(x.shape) - 1, int(call.attrs.axis) % len(x.shape)
    axes = list(range(len(x.shape)))
    axes[axis], axes[last] = last, axis
    rows = x if axis == last else replace(x, value=fold.emit(_transposed(x.value, axes)))
    attributes, tables = needed(fold.arithmetic.softmax(rows, target))
    result = qnn.emit("softmax", [rows.value, *tables], attributes)
    return result if axis == last else _transposed(fold.emit(result), axes)


def _transposed(value: Any, axes: list[int]) -> Any:
    return qnn.emit("transpose", [value], {"axes": axes})
