"""Standard operators whose conversion by TVM is wrong, or hides from the integer passes what they are.

Automatic padding of convolutions becomes plain padding, padding and repetition pick rows. Most fall back to TVM's own
converter where operands are not constant.
"""

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
import tvm
from onnx import helper
from tvm import relax

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend import (
    onnx_arithmetic,
    onnx_bounded_operators,
    onnx_indexing,
    onnx_spatial_operators,
    onnx_truth_operators,
)
from tvm_pulp.frontend.limits import check_shape
from tvm_pulp.frontend.onnx_conversion import Conversion
from tvm_pulp.frontend.onnx_einsum import einsum
from tvm_pulp.frontend.onnx_resize import resize, upsample
from tvm_pulp.frontend.relax_values import constant, dtype_of
from tvm_pulp.frontend.windows import split_pads, windows_of
from tvm_pulp.window import Window


def quantize_linear(c: Conversion) -> Any:
    _refuse_blocks(c)
    if any(c.attributes.get(name, 0) for name in ("block_size", "output_dtype", "precision")):
        return c.stock()
    return c.importer.quantize(*c.operands(3), axis=_axis(c))


def dequantize_linear(c: Conversion) -> Any:
    block, values = int(c.attributes.get("block_size", 0)), [constant(i) for i in c.inputs if i is not None]
    if block and all(v is not None for v in values):
        return relax.const(_of_blocks(values, _axis(c), block))
    _refuse_blocks(c)
    if dtype_of(c.inputs[1]) != "float32":
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


def _refuse_blocks(c: Conversion) -> None:
    """Scales for every few entries of an axis: of constants only."""
    refuse_if(
        c.attributes.get("block_size", 0),
        f"{c.op_type} with a scale for every block of values is not supported at run time: quantize per tensor or per "
        "channel",
    )


def _axis(c: Conversion) -> int:
    rank = len(c.shape())
    return int(c.attributes.get("axis", 1)) % rank if rank > 1 else 0


def clip(c: Conversion) -> Any:
    x, *given = c.operands(3)
    limits = [None if g is None else _known(c, g) for g in given]
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


def conv(c: Conversion) -> Any:
    *_, pads = windows_of(c.attributes, c.auto_pad, c.shape(0)[2:], c.shape(1)[2:])
    return c.stock(pads=pads, auto_pad=None)


def conv_transpose(c: Conversion) -> Any:
    size, kernel = c.shape(0)[2:], c.shape(1)[2:]
    strides, dilations, _ = windows_of(c.attributes, c.auto_pad, size, kernel)
    wanted, extra = c.attributes.get("output_shape"), c.numbers("output_padding", [0] * len(size))
    if len(extra) != len(size) or min((*extra, 0)) < 0:
        raise UserError(f"ConvTranspose: output_padding {extra} does not fit {len(size)} spatial axes")
    if wanted is None and c.auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        wanted = [n * stride for n, stride in zip(size, strides, strict=True)]
    if wanted is None:
        return c.stock(auto_pad=None)
    if len(wanted) != len(size):
        raise UserError(f"ConvTranspose: output_shape {list(wanted)} must name the {len(size)} spatial axes")
    axes = zip(size, kernel, strides, dilations, extra, strict=True)
    full = [Window(k, stride, dilation).transposed_extent(n) + more for n, k, stride, dilation, more in axes]
    surplus = [whole - int(target) for whole, target in zip(full, wanted, strict=True)]
    pads = split_pads([max(0, s) for s in surplus], larger_first=c.auto_pad != "SAME_UPPER")
    # A result larger than the product grows at its end.
    extra = [e + max(0, -s) for e, s in zip(extra, surplus, strict=True)]
    return c.stock(pads=pads, output_padding=extra, auto_pad=None, output_shape=None)


# Modes that pick positions; numpy has the same names.
_PICKING = ("reflect", "edge", "wrap")


def pad(c: Conversion) -> Any:
    """Constant padding; the other modes pick rows, negative widths cut them off."""
    x, given_pads, given_value, given_axes = c.operands(4)
    shape, mode = c.shape(), c.text("mode", "constant")
    pads = np.array(c.attributes.get("pads", [])) if given_pads is None else c.constant(1)
    value = np.array([c.attributes.get("value", 0.0)]) if given_value is None else _known(c, given_value)
    axes = np.arange(len(shape)) if given_axes is None else c.constant(3)
    if pads is None or value is None or axes is None or mode not in ("constant", *_PICKING):
        return c.stock()
    if pads.size != 2 * axes.size or value.size != 1:
        raise UserError(f"Pad: {pads.size} widths do not fit {axes.size} axes: export the model again")
    width = np.zeros((len(shape), 2), np.int64)
    width[axes.astype(np.int64) % len(shape)] = pads.reshape(2, -1).T
    result = [int(d) for d in np.array(shape, np.int64) + width.sum(axis=1)]
    refuse_if(min(result, default=1) < 1, f"Pad: the result of shape {result} is empty: check the widths")
    check_shape("the result of Pad", result, 4)
    for axis, (before, after) in enumerate(np.minimum(width, 0)):
        if before or after:
            x = c.take(x, np.arange(-before, shape[axis] + after), axis)
    width = np.maximum(width, 0)
    if mode == "constant":
        flat = [int(w) for w in width.reshape(-1)]
        return relax.op.nn.pad(x, flat, "constant", float(value.reshape(-1)[0])) if any(flat) else x
    kind: Any = mode
    for axis, (before, after) in enumerate(width):
        if before or after:
            places = np.arange(int(x.ty.shape.values[axis]))
            x = c.take(x, np.pad(places, (int(before), int(after)), mode=kind), axis)
    return x


def _known(c: Conversion, value: Any) -> np.ndarray | None:
    """A constant; quantizers store those of floats as integers, too."""
    held = constant(value)
    made = c.importer.bb.lookup_binding(value) if held is None and isinstance(value, relax.Var) else None
    if not isinstance(made, relax.Call) or made.op != tvm.ir.Op.get("relax.dequantize"):
        return held
    integers, scale, zero_point = (constant(a) for a in made.args)
    if integers is None or scale is None or zero_point is None or scale.size != 1:
        return None
    centred = integers.astype(np.int64) - zero_point.astype(np.int64)
    return np.asarray(centred.astype(np.float32) * scale.astype(np.float32))


def cast(c: Conversion) -> Any:
    """Nothing happens to a value that has the type already: exporters write the casts of the model's source."""
    x, wanted = c.inputs[0], helper.tensor_dtype_to_np_dtype(int(c.attributes["to"]))
    return x if isinstance(x.ty, relax.TensorType) and dtype_of(x) == str(wanted) else c.stock()


def gather(c: Conversion) -> Any:
    """Indices count from the end where they are negative."""
    data, indices = c.inputs[:2]
    if isinstance(data.ty, relax.ShapeType) or isinstance(indices.ty, relax.ShapeType):
        return c.stock()
    picked, shape, axis = c.constant(1), c.shape(), int(c.attributes.get("axis", 0))
    size = shape[axis]
    if picked is None:
        # Whatever the indices are, nothing outside of the tensor is read.
        return relax.op.take(data, c.from_end(indices, size), axis=axis % len(shape), mode="clip")
    if picked.size and (picked.min() < -size or picked.max() >= size):
        raise UserError(f"Gather: an index lies outside an axis of {size} elements: check the model")
    whole = np.asarray(np.where(picked < 0, picked + size, picked), np.int64)
    values = c.constant(0)
    if values is not None:
        check_shape("the result of Gather", np.shape(whole), 4)
        return relax.const(np.ascontiguousarray(np.take(values, whole, axis=axis)), str(values.dtype))
    return relax.op.take(data, relax.const(whole), axis=axis % len(shape))


def tile(c: Conversion) -> Any:
    """Repetition picks the same rows again."""
    x, repeats, shape = c.inputs[0], c.constant(1), c.shape()
    if repeats is None or repeats.size != len(shape):
        return c.stock()
    counts = [int(r) for r in repeats.reshape(-1)]
    check_shape("the result of Tile", [d * n for d, n in zip(shape, counts, strict=True)], 4)
    refuse_if(min(counts, default=1) < 1, f"Tile: repeats {counts} leave nothing: check the model")
    for axis, count in enumerate(counts):
        if count > 1:
            x = c.take(x, np.tile(np.arange(shape[axis]), count), axis)
    return x


def dropout(c: Conversion) -> Any:
    """Nothing is dropped in inference: the operand as it is, and a mask that keeps everything."""
    x, _, training = c.operands(3)
    drops, ratio = c.constant(2), c.constant(1)
    refuse_if(training is not None and drops is None, "operand 2 says if it is training, and must be constant")
    refuse_if(
        drops is not None and drops.any() and (ratio is None or ratio.any()),
        "its training mode draws random numbers: export the model for inference",
    )
    if c.results == 1:
        return x
    # Masks were floats before operator set 10.
    return relax.Tuple([x, relax.const(np.ones(c.shape(), bool if c.opset >= 10 else np.float32))])


def eye_like(c: Conversion) -> Any:
    """Ones on a diagonal, of the type that is stated, else of the operand's."""
    shape, stated = c.shape(), c.attributes.get("dtype")
    refuse_if(len(shape) != 2, f"an operand of shape {shape} is not a matrix: export the model again")
    wanted = dtype_of(c.inputs[0]) if stated is None else str(helper.tensor_dtype_to_np_dtype(int(stated)))
    check_shape("the result of EyeLike", shape, 8)
    return relax.const(np.eye(shape[0], shape[1], k=int(c.attributes.get("k", 0))), wanted)


# Higher powers of integers hardly ever fit their types.
_HIGHEST_POWER = 8


def power(c: Conversion) -> Any:
    """Floats to any power; integers to a small constant one, by products."""
    x, exponent = c.inputs[:2]
    dtype, stated = dtype_of(x), c.constant(1)
    if dtype.startswith("float"):
        return relax.op.power(x, exponent if dtype_of(exponent) == dtype else c.emit(relax.op.astype(exponent, dtype)))
    known = set() if stated is None else {float(v) for v in stated.reshape(-1)}
    value = next(iter(known), -1.0)
    refuse_if(
        len(known) != 1 or value not in range(1, _HIGHEST_POWER + 1),
        f"powers of {dtype} values need one constant exponent from 1 to {_HIGHEST_POWER}: cast the operands to float32",
    )
    shape = np.broadcast_shapes(c.shape(), c.shape(1))
    wide = x if shape == tuple(c.shape()) else c.emit(relax.op.broadcast_to(x, shape))
    return reduce(lambda product, _: c.emit(relax.op.multiply(product, wide)), range(int(value) - 1), wide)


def norm_statistics(c: Conversion) -> list[Any]:
    """Mean and reciprocal deviation of LayerNormalization, as its further results."""
    x, rank = c.inputs[0], len(c.shape())
    axes = list(range(int(c.attributes.get("axis", -1)) % rank, rank))
    mean = c.emit(relax.op.mean(x, axes, keepdims=True))
    centred = c.emit(relax.op.subtract(x, mean))
    variance = c.emit(relax.op.mean(c.emit(relax.op.multiply(centred, centred)), axes, keepdims=True))
    epsilon = relax.const(float(c.attributes.get("epsilon", 1e-5)), dtype_of(x))
    deviation = c.emit(relax.op.sqrt(c.emit(relax.op.add(variance, epsilon))))
    return [mean, c.emit(relax.op.divide(relax.const(1.0, dtype_of(x)), deviation))]


def rms_norm(c: Conversion) -> Any:
    """x / sqrt(mean(x^2) + eps) * weight over the last axis."""
    x, weight = c.inputs[:2]
    epsilon = float(c.attributes.get("eps", c.attributes.get("epsilon", 1e-5)))
    mean = relax.op.mean(relax.op.multiply(x, x), axis=-1, keepdims=True)
    root = relax.op.sqrt(relax.op.add(mean, relax.const(epsilon, "float32")))
    return relax.op.multiply(relax.op.divide(x, root), weight)


CONVERTERS: dict[str, Callable[[Conversion], Any]] = {
    "Cast": cast,
    "Clip": clip,
    "Conv": conv,
    "ConvTranspose": conv_transpose,
    "DequantizeLinear": dequantize_linear,
    "Dropout": dropout,
    "Einsum": einsum,
    "EyeLike": eye_like,
    "Gather": gather,
    "Max": extreme(relax.op.maximum),
    "Min": extreme(relax.op.minimum),
    "Pad": pad,
    "Pow": power,
    "QuantizeLinear": quantize_linear,
    "RMSNorm": rms_norm,
    "Resize": resize,
    "SimplifiedLayerNormalization": rms_norm,
    "Tile": tile,
    "Upsample": upsample,
    **onnx_arithmetic.CONVERTERS,
    **onnx_bounded_operators.CONVERTERS,
    **onnx_indexing.CONVERTERS,
    **onnx_spatial_operators.CONVERTERS,
    **onnx_truth_operators.CONVERTERS,
}
