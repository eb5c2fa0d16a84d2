"""Standard operators that TVM's importer writes in a form the integer passes could not recognise.

Each falls back to TVM's own converter where its operands are not constant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from tvm import relax

from tvm_pulp.errors import UserError
from tvm_pulp.frontend.relax_constant import constant

if TYPE_CHECKING:
    from tvm_pulp.frontend.onnx_importer import QuantizedImporter


def quantize_linear(importer: QuantizedImporter, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
    x, scale = inputs[:2]
    zero_point = inputs[2] if len(inputs) > 2 else None
    if attrs.get("block_size", 0) or attrs.get("output_dtype", 0) or attrs.get("precision", 0):
        return importer.stock("QuantizeLinear", inputs, attrs, opset)
    return importer.quantize(x, scale, zero_point, axis=_axis(x, attrs))


def dequantize_linear(importer: QuantizedImporter, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
    x, scale = inputs[:2]
    block = int(attrs.get("block_size", 0))
    if block and all(constant(i) is not None for i in inputs if i is not None):
        return relax.const(_of_blocks([constant(i) for i in inputs if i is not None], _axis(x, attrs), block))
    if block or str(scale.ty.dtype.dtype) != "float32":
        return importer.stock("DequantizeLinear", inputs, attrs, opset)
    return importer.dequantize(x, scale, inputs[2] if len(inputs) > 2 else None, axis=_axis(x, attrs))


def _of_blocks(operands: Sequence[Any], axis: int, block: int) -> np.ndarray:
    """Weights with a scale for every few of them along an axis: floats, because no sum of integers has one scale."""
    values, size = operands[0], operands[0].shape[axis]
    wanted = tuple(-(-size // block) if a == axis else d for a, d in enumerate(values.shape))
    if any(o.shape != wanted for o in operands[1:]):
        found = [list(o.shape) for o in operands[1:]]
        raise UserError(
            f"DequantizeLinear: {found} do not fit blocks of {block} of shape {list(values.shape)}: export it again"
        )
    scale, *zeros = (np.repeat(o, block, axis=axis).take(np.arange(size), axis=axis) for o in operands[1:])
    centred = values.astype(np.int64) - (zeros[0].astype(np.int64) if zeros else 0)
    return np.asarray(centred.astype(np.float32) * scale.astype(np.float32), np.float32)


def _axis(x: Any, attrs: dict[str, Any]) -> int:
    rank = len(x.ty.shape.values)
    return int(attrs.get("axis", 1)) % rank if rank > 1 else 0


def clip(importer: QuantizedImporter, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
    limits = [constant(i) if i is not None else None for i in inputs[1:]]
    given = [i for i in inputs[1:] if i is not None]
    x = inputs[0]
    if len(given) != sum(v is not None for v in limits) or str(x.ty.dtype.dtype) != "float32":
        return importer.stock("Clip", inputs, attrs, opset)
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


def extreme(operator: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Max and Min of any number of operands, pair by pair."""

    def convert(importer: QuantizedImporter, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
        result = inputs[0]
        for other in inputs[1:]:
            result = importer.bb.emit(operator(result, other))
        return result

    return convert


CONVERTERS: dict[str, Callable[..., Any]] = {
    "QuantizeLinear": quantize_linear,
    "DequantizeLinear": dequantize_linear,
    "Clip": clip,
    "Max": extreme(relax.op.maximum),
    "Min": extreme(relax.op.minimum),
}
