"""TFLite's BATCH_MATMUL and TRANSPOSE_CONV."""

from collections.abc import Callable
from typing import Any

from tvm import relax

from tvm_pulp.frontend.tflite_options import options_of


def real_value(converter: Any, tensor: Any) -> Any:
    """A tensor as floats: dequantized where it is quantized."""
    value = converter.get_tensor_expr(tensor)
    return converter.dequantize(value, tensor) if tensor.qnn_params else value


def activated(converter: Any, real: Any, tensor: Any, function: int) -> Any:
    """A float result with its fused activation, quantized where the tensor is."""
    if not tensor.qnn_params:
        return converter.convert_fused_activation_function(real, function)
    return converter.convert_qnn_fused_activation_function(
        expr=converter.bb.normalize(converter.quantize(real, tensor)),
        fused_activation_fn=function,
        scale=float(tensor.qnn_params["scale"].value.numpy()),
        zero_point=int(tensor.qnn_params["zero_point"].value.numpy()),
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
    shape = [int(d) for d in converter.get_tensor_shape(result)]
    return activated(converter, relax.op.reshape(product, shape), result, 0)


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
        reach = strides[axis] * (size[axis] - 1) + kernel[axis]
        cut = max((-(-goal[axis] // strides[axis]) - 1) * strides[axis] + kernel[axis] - goal[axis], 0)
        before.append(cut // 2 if options.Padding() == 0 else 0)
        behind = reach - before[axis] - goal[axis]
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
    if rest and rest[0].tensor_idx != -1:
        real = relax.op.add(converter.bb.normalize(real), real_value(converter, rest[0]))
    (result,) = converter.get_output_tensors(op)
    function = options.FusedActivationFunction() if hasattr(options, "FusedActivationFunction") else 0
    return activated(converter, real, result, function)
