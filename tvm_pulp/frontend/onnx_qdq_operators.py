"""Standard operators that TVM's importer writes in a form the integer passes could not recognise.

Each falls back to TVM's own converter where its operands are not constant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from tvm import relax
from tvm.relax.frontend.onnx import onnx_frontend

from tvm_pulp.frontend.relax_constant import constant

if TYPE_CHECKING:
    from tvm_pulp.frontend.onnx_qdq import QdqImporter


def quantize_linear(importer: QdqImporter, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
    x, scale = inputs[:2]
    zero_point = inputs[2] if len(inputs) > 2 else None
    if attrs.get("block_size", 0) or attrs.get("output_dtype", 0) or attrs.get("precision", 0):
        return _stock(importer, "QuantizeLinear", inputs, attrs, opset)
    return importer.quantize(x, scale, zero_point, axis=_axis(x, attrs))


def dequantize_linear(importer: QdqImporter, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
    x, scale = inputs[:2]
    if attrs.get("block_size", 0) or str(scale.ty.dtype.dtype) != "float32":
        return _stock(importer, "DequantizeLinear", inputs, attrs, opset)
    return importer.dequantize(x, scale, inputs[2] if len(inputs) > 2 else None, axis=_axis(x, attrs))


def _axis(x: Any, attrs: dict[str, Any]) -> int:
    rank = len(x.ty.shape.values)
    return int(attrs.get("axis", 1)) % rank if rank > 1 else 0


def clip(importer: QdqImporter, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
    limits = [constant(i) if i is not None else None for i in inputs[1:]]
    given = [i for i in inputs[1:] if i is not None]
    x = inputs[0]
    if len(given) != sum(v is not None for v in limits) or str(x.ty.dtype.dtype) != "float32":
        return _stock(importer, "Clip", inputs, attrs, opset)
    low, high = [*limits, None, None][:2]
    smallest = float(low.reshape(-1)[0]) if low is not None else float(attrs.get("min", -math.inf))
    largest = float(high.reshape(-1)[0]) if high is not None else float(attrs.get("max", math.inf))
    if math.isinf(smallest) and math.isinf(largest):
        return x
    if math.isinf(largest):
        is_relu = smallest == 0
        return relax.op.nn.relu(x) if is_relu else relax.op.maximum(x, relax.const(np.float32(smallest)))
    if math.isinf(smallest):
        return relax.op.minimum(x, relax.const(np.float32(largest)))
    return relax.op.clip(x, smallest, largest)


def pad(importer: QdqImporter, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
    x, rank = inputs[0], len(inputs[0].ty.shape.values)
    mode = attrs.get("mode", b"constant")
    pads = constant(inputs[1]) if len(inputs) > 1 and inputs[1] is not None else None
    value = constant(inputs[2]) if len(inputs) > 2 and inputs[2] is not None else np.zeros(1, np.float32)
    axes = constant(inputs[3]) if len(inputs) > 3 and inputs[3] is not None else np.arange(rank)
    usable = pads is not None and value is not None and axes is not None and mode in (b"constant", "constant")
    if not usable or pads is None or value is None or axes is None or pads.min(initial=0) < 0:
        return _stock(importer, "Pad", inputs, attrs, opset)
    width = [0] * (2 * rank)
    for place, axis in enumerate(int(a) % rank for a in axes):
        width[2 * axis], width[2 * axis + 1] = int(pads[place]), int(pads[place + axes.size])
    return relax.op.nn.pad(x, width, "constant", float(value.reshape(-1)[0]))


def gather(importer: QdqImporter, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
    data, picked = inputs[0], constant(inputs[1])
    if picked is None or isinstance(data.ty, relax.ShapeType) or constant(data) is not None:
        return _stock(importer, "Gather", inputs, attrs, opset)
    shape = [int(d) for d in data.ty.shape.values]
    axis = int(attrs.get("axis", 0)) % len(shape)
    indices = np.asarray(np.where(picked < 0, picked + shape[axis], picked), np.int64)
    return relax.op.take(data, relax.const(indices), axis=axis)


def extreme(operator: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Max and Min of any number of operands, pair by pair."""

    def convert(importer: QdqImporter, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
        result = inputs[0]
        for other in inputs[1:]:
            result = importer.bb.emit(operator(result, other))
        return result

    return convert


def _stock(importer: QdqImporter, name: str, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
    """TVM's own converter."""
    return onnx_frontend.ONNXGraphImporter._convert_operator(importer, name, importer.input_list(inputs), attrs, opset)


CONVERTERS: dict[str, Callable[..., Any]] = {
    "QuantizeLinear": quantize_linear,
    "DequantizeLinear": dequantize_linear,
    "Clip": clip,
    "Pad": pad,
    "Gather": gather,
    "Max": extreme(relax.op.maximum),
    "Min": extreme(relax.op.minimum),
}
