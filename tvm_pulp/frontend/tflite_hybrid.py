"""TFLite's dynamic-range layers: float activations, 8-bit weights.

As in its kernels, activations are quantized at run time, every row (FULLY_CONNECTED) or image (convolutions) by its own
range: symmetrically, or with a zero point. The products are integers, their sums are scaled back to floats.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.frontend.tflite_operators import options_of
from tvm_pulp.frontend.windows import same_pads
from tvm_pulp.qnn.conv2d import Conv2d
from tvm_pulp.qnn.operator import spec_of

_NONE = qnn.Requant().attributes()


def is_hybrid(converter: Any, op: Any) -> bool:
    """Tell if quantized weights multiply float activations."""
    data, weight = converter.get_input_tensors(op)[:2]
    return data.qnn_params is None and weight.qnn_params is not None


class _Floats:
    """Float arithmetic, one operator at a time."""

    def __init__(self, converter: Any) -> None:
        self.emit = converter.emit

    def of(self, name: str, *operands: Any) -> Any:
        values = [relax.const(np.float32(o)) if isinstance(o, float) else o for o in operands]
        return self.emit(getattr(relax.op, name)(*values))

    def rounded(self, real: Any) -> Any:
        """Nearest integer, half away from zero, as floats."""
        half = self.of("multiply", relax.op.sign(real), 0.5)
        return self.emit(relax.op.trunc(self.of("add", real, half)))

    def quantized(self, real: Any, lowest: float) -> Any:
        """Rounded integers as int8."""
        limited = self.emit(relax.op.clip(self.rounded(real), lowest, 127.0))
        return self.emit(relax.op.astype(limited, "int8"))


def _symmetric(floats: _Floats, x: Any, axes: list[int]) -> tuple[Any, Any, None]:
    """Integers, what one of them is worth, no zero point."""
    reach = floats.emit(relax.op.max(floats.emit(relax.op.abs(x)), axes, keepdims=True))
    # All zeros: whatever they are divided by, they stay zeros.
    reach = floats.of("maximum", reach, float(np.finfo(np.float32).tiny))
    scale, inverse = floats.of("divide", reach, 127.0), floats.of("divide", relax.const(np.float32(127)), reach)
    return floats.quantized(floats.of("multiply", x, inverse), -127.0), scale, None


def _asymmetric(floats: _Floats, x: Any, axes: list[int]) -> tuple[Any, Any, Any]:
    """Integers, what one of them is worth, and their zero point, a whole float."""
    low = floats.of("minimum", floats.emit(relax.op.min(x, axes, keepdims=True)), 0.0)
    high = floats.of("maximum", floats.emit(relax.op.max(x, axes, keepdims=True)), 0.0)
    span = floats.of("maximum", floats.of("subtract", high, low), float(np.finfo(np.float32).tiny) * 255)
    scale = floats.of("divide", span, 255.0)
    # The end whose zero point is the smaller number is the more exact one.
    of_low = floats.of("subtract", -128.0, floats.of("divide", low, scale))
    of_high = floats.of("subtract", 127.0, floats.of("divide", high, scale))
    nearer = floats.emit(relax.op.less(floats.of("negative", low), floats.of("subtract", high, scale)))
    zero = floats.emit(relax.op.where(nearer, of_low, of_high))
    zero = floats.emit(relax.op.clip(floats.rounded(zero), -128.0, 127.0))
    inverse = floats.of("divide", relax.const(np.float32(1)), scale)
    return floats.quantized(floats.of("add", floats.of("multiply", x, inverse), zero), -128.0), scale, zero


def _finished(converter: Any, op: Any, sums: Any, shares: np.ndarray, found: Any, function: int) -> Any:
    """Scaled sums with bias and activation; `shares` are the sums that a zero point of one would add."""
    floats, (_, scale, zero) = _Floats(converter), found
    tensors = converter.get_input_tensors(op)
    real = floats.emit(relax.op.astype(sums, "float32"))
    if zero is not None:
        real = floats.of("subtract", real, floats.of("multiply", zero, relax.const(shares.astype(np.float32))))
    units = relax.const(np.atleast_1d(tensors[1].qnn_params["scale"].value.numpy()).astype(np.float32))
    real = floats.of("multiply", real, floats.of("multiply", scale, units))
    if len(tensors) > 2 and tensors[2].tensor_idx != -1:
        real = floats.of("add", real, converter.get_tensor_expr(tensors[2]))
    return converter.convert_fused_activation_function(real, function)


def fully_connected(converter: Any, upstream: Callable[..., Any], op: Any) -> Any:
    if not is_hybrid(converter, op):
        return upstream(op)
    options = options_of(op, "FullyConnectedOptions")
    data, weight = converter.get_input_tensors(op)[:2]
    floats, values = _Floats(converter), np.asarray(converter.get_tensor_value(weight))
    x = converter.get_tensor_expr(data)
    x = floats.emit(relax.op.reshape(x, (-1, values.shape[1])))
    quantize = _asymmetric if options.AsymmetricQuantizeInputs() else _symmetric
    found = quantize(floats, x, [1])
    attributes = {**_NONE, "zero_point": 0, "has_bias": 0}
    sums = floats.emit(qnn.emit("dense", [found[0], relax.const(values)], attributes))
    shares = values.astype(np.int64).sum(axis=1)
    result = _finished(converter, op, sums, shares, found, options.FusedActivationFunction())
    (wanted,) = converter.get_output_tensors(op)
    shape = [int(d) for d in converter.get_tensor_shape(wanted)]
    return relax.op.reshape(floats.emit(result), shape)


def _convolution(kind: str, converter: Any, upstream: Callable[..., Any], op: Any) -> Any:
    if not is_hybrid(converter, op):
        return upstream(op)
    options = options_of(op, f"{kind}Options")
    data, weight = converter.get_input_tensors(op)[:2]
    floats, values = _Floats(converter), np.asarray(converter.get_tensor_value(weight))
    x = floats.emit(converter.get_tensor_expr(data))
    shape = spec_of(x).shape
    groups = 1
    if kind == "DepthwiseConv2D":
        groups, values = shape[3], np.ascontiguousarray(values.transpose(3, 1, 2, 0))
    strides, dilation = [options.StrideH(), options.StrideW()], [options.DilationHFactor(), options.DilationWFactor()]
    attributes = {
        **_NONE,
        "layout": "NHWC",
        "strides": strides,
        "dilation": dilation,
        "pads": same_pads(shape[1:3], values.shape[1:3], strides, dilation) if options.Padding() == 0 else [0] * 4,
        "groups": groups,
        "zero_point": 0,
        "has_bias": 0,
    }
    per_channel = weight.qnn_params["scale"].value.numpy().size > 1
    found = (_asymmetric if per_channel else _symmetric)(floats, x, [1, 2, 3])
    sums = floats.emit(qnn.emit("conv2d", [found[0], relax.const(values)], attributes))
    shares = Conv2d().reference(Conv2d().stated(attributes), [np.ones((1, *shape[1:]), np.int8), values])
    return _finished(converter, op, sums, shares, found, options.FusedActivationFunction())


conv2d = partial(_convolution, "Conv2D")
depthwise_conv2d = partial(_convolution, "DepthwiseConv2D")
