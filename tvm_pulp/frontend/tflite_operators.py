"""TFLite's operators that TVM's converter lacks or computes otherwise, and how options and tensors are read.

BATCH_MATMUL, EXPAND_DIMS, GELU and TRANSPOSE_CONV; SQUARED_DIFFERENCE and RESIZE_BILINEAR of integers, as the reference
kernels compute them: the latter with weights of ten bits, rounded once, a half away from zero, not from the zero point;
LOGISTIC, TANH and SOFTMAX of 16-bit integers, which have kernels of their own.
"""

import importlib
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.qnn import curve, softmax_tflite16
from tvm_pulp.qnn.fixed_point import quantize_multiplier
from tvm_pulp.qnn.tensor_spec import RANGES
from tvm_pulp.window import Window


def options_of(op: Any, name: str) -> Any:
    """The table `name` that an operator carries."""
    made = getattr(importlib.import_module(f"tflite.{name}"), name)()
    table = op.BuiltinOptions()
    if table is None:
        raise ValueError(f"an operator lacks its {name}")
    made.Init(table.Bytes, table.Pos)
    return made


def indices(table: Any, name: str) -> list[int]:
    """Numbers that a graph or operator lists under a name, for example its inputs."""
    return [int(getattr(table, name)(i)) for i in range(getattr(table, f"{name}Length")())]


def scale_of(tensor: Any) -> float:
    """The scale of a tensor that has one for all channels."""
    return float(np.float32(tensor.qnn_params["scale"].value.numpy()))


def zero_point_of(tensor: Any) -> int:
    """The zero point of a tensor that has one for all channels."""
    return int(tensor.qnn_params["zero_point"].value.numpy())


def real_value(converter: Any, tensor: Any) -> Any:
    """A tensor as floats: dequantized where it is quantized."""
    value = converter.get_tensor_expr(tensor)
    return converter.dequantize(value, tensor) if tensor.qnn_params else value


def biased(converter: Any, real: Any, rest: Sequence[Any]) -> Any:
    """Sums with their bias, the first of what further operands there are."""
    if not rest or rest[0].tensor_idx == -1:
        return real
    return relax.op.add(converter.bb.normalize(real), real_value(converter, rest[0]))


def activated(converter: Any, real: Any, tensor: Any, function: int) -> Any:
    """A float result with its fused activation, quantized where the tensor is."""
    if not tensor.qnn_params:
        return converter.convert_fused_activation_function(real, function)
    return converter.convert_qnn_fused_activation_function(
        expr=converter.bb.normalize(converter.quantize(real, tensor)),
        fused_activation_fn=function,
        scale=scale_of(tensor),
        zero_point=zero_point_of(tensor),
        dtype=converter.get_tensor_type_str(tensor.tensor.Type()),
    )


def batch_matmul(converter: Any, _upstream: Callable[..., Any], op: Any) -> Any:
    """Products of matrices; leading axes broadcast."""
    tensors, options = converter.get_input_tensors(op), options_of(op, "BatchMatMulOptions")
    sides = []
    for tensor, turned in zip(tensors, (options.AdjX(), options.AdjY()), strict=True):
        value, rank = real_value(converter, tensor), len(converter.get_tensor_shape(tensor))
        axes = [*range(rank - 2), rank - 1, rank - 2]
        sides.append(relax.op.permute_dims(value, axes) if turned else value)
    (result,) = converter.get_output_tensors(op)
    left, right = (converter.bb.normalize(side) for side in sides)
    if len(right.ty.shape) == 2:
        # FULLY_CONNECTED rounds otherwise: products with constants of two axes are its.
        right = converter.bb.normalize(relax.op.expand_dims(right, 0))
    product = converter.bb.normalize(relax.op.matmul(left, right))
    shape, rank = [int(d) for d in product.ty.shape.values], max(len(converter.get_tensor_shape(t)) for t in tensors)
    return activated(converter, relax.op.reshape(product, shape[-rank:]), result, 0)


def transpose_conv(converter: Any, _upstream: Callable[..., Any], op: Any) -> Any:
    """The file states the size of the result: what the kernel reaches beyond it is cut off, what it misses is bias."""
    wanted, weight, data, *rest = converter.get_input_tensors(op)
    options = options_of(op, "TransposeConvOptions")
    _, *kernel, _ = (int(d) for d in converter.get_tensor_shape(weight))
    size = [int(d) for d in converter.get_tensor_shape(data)][1:3]
    goal = [int(d) for d in converter.get_tensor_value(wanted)][1:3]
    strides = [int(options.StrideH()), int(options.StrideW())]
    before, after, extra = [], [], []
    for axis in range(2):
        padded = Window.same(goal[axis], kernel[axis], strides[axis]).before if options.Padding() == 0 else 0
        behind = Window(kernel[axis], strides[axis], before=padded).transposed_extent(size[axis]) - goal[axis]
        before.append(padded)
        after.append(max(behind, 0))
        extra.append(max(-behind, 0))
    real = relax.op.nn.conv2d_transpose(
        converter.bb.normalize(real_value(converter, data)),
        converter.bb.normalize(relax.op.permute_dims(real_value(converter, weight), [3, 0, 1, 2])),
        strides=strides,
        padding=[*before, *after],
        output_padding=extra,
        data_layout="NHWC",
        kernel_layout="IOHW",
    )
    (result,) = converter.get_output_tensors(op)
    function = options.FusedActivationFunction() if hasattr(options, "FusedActivationFunction") else 0
    return activated(converter, biased(converter, real, rest), result, function)


def gelu(converter: Any, _upstream: Callable[..., Any], op: Any) -> Any:
    """By erf, or its approximation by tanh where the file says so."""
    (x,), (y,) = converter.get_input_tensors(op), converter.get_output_tensors(op)
    function = relax.op.nn.gelu_tanh if options_of(op, "GeluOptions").Approximate() else relax.op.nn.gelu
    return activated(converter, function(converter.bb.normalize(real_value(converter, x))), y, 0)


def expand_dims(converter: Any, _upstream: Callable[..., Any], op: Any) -> Any:
    data, axis = converter.get_input_tensors(op)
    return relax.op.expand_dims(converter.get_tensor_expr(data), int(converter.get_tensor_value(axis).reshape(-1)[0]))


# Extra bits of the common scale of two operands that are subtracted and squared.
_DIFFERENCE_BITS = 7


def squared_difference(converter: Any, upstream: Callable[..., Any], op: Any) -> Any:
    """Of bytes: their difference at a common scale, rounded, then its square, rounded once more."""
    tensors, (y,) = converter.get_input_tensors(op), converter.get_output_tensors(op)
    if any(converter.get_tensor_type_str(t.tensor.Type()) not in _KINDS for t in (*tensors, y)):
        return upstream(op)
    scales, zero_points = [scale_of(t) for t in tensors], [zero_point_of(t) for t in tensors]
    twice = 2.0 * max(scales)
    pairs = [quantize_multiplier(scale / twice) for scale in scales]
    attributes = {
        "form": "tflite",
        "left_shift": _DIFFERENCE_BITS,
        "multipliers": [multiplier for multiplier, _ in pairs],
        "exponents": [exponent for _, exponent in pairs],
        "subtract": 1,
        "zero_point_a": zero_points[0],
        "zero_point_b": zero_points[1],
        **qnn.Requant().attributes(),
    }
    difference = converter.emit(qnn.emit("add", [converter.get_tensor_expr(t) for t in tensors], attributes))
    multiplier, exponent = quantize_multiplier(twice * twice / ((1 << 2 * _DIFFERENCE_BITS) * scale_of(y)))
    dtype = converter.get_tensor_type_str(y.tensor.Type())
    rule = qnn.Requant("tflite", 0, zero_point_of(y), *RANGES[dtype], dtype=dtype)
    constants = [relax.const(np.array([v], np.int32)) for v in (multiplier, exponent)]
    attributes = {**rule.attributes(), "zero_point_a": 0, "zero_point_b": 0}
    return qnn.emit("mul", [difference, difference, *constants], attributes)


_BITS = 10
_ONE = 1 << _BITS
_KINDS = ("int8", "uint8")


def resize_bilinear(converter: Any, upstream: Callable[..., Any], op: Any) -> Any:
    data, wanted = converter.get_input_tensors(op)
    dtype = converter.get_tensor_type_str(data.tensor.Type())
    if dtype not in _KINDS:
        return upstream(op)
    options = options_of(op, "ResizeBilinearOptions")
    sizes = [int(d) for d in converter.get_tensor_shape(data)][1:3]
    goals = [int(d) for d in converter.get_tensor_value(wanted)]
    tables = [
        _taps(size, goal, aligned=options.AlignCorners(), centred=options.HalfPixelCenters())
        for size, goal in zip(sizes, goals, strict=True)
    ]
    # Twice the weights of rows: the first rounding of the rule then halves an even number.
    (rows, row_weights), (columns, column_weights) = tables
    tensors = [rows, row_weights * 2, columns, column_weights, np.array([1 << 30]), np.array([-2 * _BITS])]
    low, high = RANGES[dtype]
    rule = qnn.Requant("tflite", 0, 0, low, high, dtype=dtype)
    attributes = {
        **rule.attributes(),
        "layout": "NHWC",
        "taps": [2, 2],
        "bits": [_BITS + 1, _BITS],
        "middle": 0,
        "zero_point": 0,
        "ties": 0,
        "slack": 0,
    }
    return qnn.emit(
        "resize", [converter.get_tensor_expr(data), *(relax.const(t.astype(np.int32)) for t in tensors)], attributes
    )


def _taps(size: int, goal: int, *, aligned: bool, centred: bool) -> tuple[np.ndarray, np.ndarray]:
    """For every place of the result, two places of the input and their weights, which add up to one."""
    scale = (_ONE * size + goal // 2) // goal
    if aligned and goal > 1:
        scale = (_ONE * (size - 1) + (goal - 1) // 2) // (goal - 1)
    places = np.arange(goal, dtype=np.int64) * scale + (scale // 2 - _ONE // 2 if centred else 0)
    # Quotients are truncated; below zero both taps are the first place.
    first = np.clip(np.trunc(places / _ONE).astype(np.int64), 0, size - 1)
    second = np.minimum(np.trunc((places + _ONE - 1) / _ONE).astype(np.int64), size - 1)
    share = places - _ONE * first
    return np.stack([first, second], axis=1), np.stack([_ONE - share, share], axis=1)


def _is_sixteen_bits(converter: Any, op: Any) -> bool:
    tensors = [*converter.get_input_tensors(op), *converter.get_output_tensors(op)]
    return all(t.qnn_params and converter.get_tensor_type_str(t.tensor.Type()) == "int16" for t in tensors)


def _curve(function: str, converter: Any, upstream: Callable[..., Any], op: Any) -> Any:
    if not _is_sixteen_bits(converter, op):
        return upstream(op)
    (x,) = converter.get_input_tensors(op)
    operands = [converter.get_tensor_expr(x), relax.const(curve.sigmoid_points())]
    return qnn.emit("curve", operands, {"function": function, **curve.parameters(scale_of(x))})


logistic = partial(_curve, "sigmoid")
tanh = partial(_curve, "tanh")


def softmax(converter: Any, upstream: Callable[..., Any], op: Any) -> Any:
    (x,), (y,) = converter.get_input_tensors(op), converter.get_output_tensors(op)
    beta = float(options_of(op, "SoftmaxOptions").Beta())
    if not 0 < beta < math.inf:
        raise ValueError(f"beta {beta} is not positive and finite")
    if _is_sixteen_bits(converter, op):
        operands = [converter.get_tensor_expr(x), *(relax.const(t) for t in softmax_tflite16.tables())]
        attributes = {"form": "tflite16", "dtype": "int16", **softmax_tflite16.parameters(scale_of(x), beta)}
        return qnn.emit("softmax", operands, attributes)
    if beta == 1.0:
        return upstream(op)
    scaled = relax.op.multiply(real_value(converter, x), relax.const(np.float32(beta)))
    result = relax.op.nn.softmax(converter.bb.normalize(scaled), -1)
    return converter.quantize(result, y) if y.qnn_params else result
