"""Standard operators that TVM's importer writes in a form the integer passes could not recognise.

Each falls back to TVM's own converter where its operands are not constant.
"""

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp.errors import UserError
from tvm_pulp.frontend.onnx_conversion import Conversion
from tvm_pulp.frontend.relax_values import constant, dtype_of


def quantize_linear(c: Conversion) -> Any:
    if any(c.attributes.get(name, 0) for name in ("block_size", "output_dtype", "precision")):
        return c.stock()
    return c.importer.quantize(*c.operands(3), axis=_axis(c))


def dequantize_linear(c: Conversion) -> Any:
    block, values = int(c.attributes.get("block_size", 0)), [constant(i) for i in c.inputs if i is not None]
    if block and all(v is not None for v in values):
        return relax.const(_of_blocks(values, _axis(c), block))
    if block or dtype_of(c.inputs[1]) != "float32":
        return c.stock()
    return c.importer.dequantize(*c.operands(3), axis=_axis(c))


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


def _axis(c: Conversion) -> int:
    rank = len(c.shape())
    return int(c.attributes.get("axis", 1)) % rank if rank > 1 else 0


def clip(c: Conversion) -> Any:
    x, *given = c.operands(3)
    limits = [constant(g) for g in given]
    if any(g is not None and v is None for g, v in zip(given, limits, strict=True)) or dtype_of(x) != "float32":
        return c.stock()
    low, high = (
        float(c.attributes.get(name, default)) if limit is None else float(limit.reshape(-1)[0])
        for limit, name, default in zip(limits, ("min", "max"), (-math.inf, math.inf), strict=True)
    )
    if math.isinf(low) and math.isinf(high):
        return x
    if math.isinf(high):
        return relax.op.nn.relu(x) if low == 0 else relax.op.maximum(x, relax.const(np.float32(low)))
    if math.isinf(low):
        return relax.op.minimum(x, relax.const(np.float32(high)))
    return relax.op.clip(x, low, high)


def extreme(operator: Callable[[Any, Any], Any]) -> Callable[[Conversion], Any]:
    """Max and Min of any number of operands, pair by pair."""
    return lambda c: reduce(lambda result, other: c.emit(operator(result, other)), c.inputs)


CONVERTERS: dict[str, Callable[[Conversion], Any]] = {
    "QuantizeLinear": quantize_linear,
    "DequantizeLinear": dequantize_linear,
    "Clip": clip,
    "Max": extreme(relax.op.maximum),
    "Min": extreme(relax.op.minimum),
}
