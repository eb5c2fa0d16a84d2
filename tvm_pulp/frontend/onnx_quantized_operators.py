"""Quantized ONNX operators (QLinear..., com.microsoft included) as dequantize, the float operator, quantize.

That is what they mean; canonicalization makes integers of it.

Operators whose result is a 32-bit accumulator become layers of integers. Their zero points may be known only at run
time (DynamicQuantizeLinear computes them): the layer then takes its input as it is, and the zero point's share, a
constant per output, is subtracted afterwards: sum((x - z) w) = sum(x w) - z sum(w).
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.errors import UserError
from tvm_pulp.frontend.onnx_conversion import Conversion
from tvm_pulp.frontend.relax_values import as_image, constant, shape_of
from tvm_pulp.frontend.windows import window_attributes
from tvm_pulp.qnn.conv2d import Conv2d
from tvm_pulp.qnn.requant import along

_NONE = qnn.Requant().attributes()


def _real(c: Conversion, place: int, axis: int = 0) -> Any:
    """An operand as floats; its scale and zero point follow it."""
    return c.importer.dequantize(*c.operands(place + 3)[place:], axis=axis)


def qlinear_conv(c: Conversion) -> Any:
    operands = [_real(c, 0), _real(c, 3, axis=0)]
    *_, ys, yz, bias = c.operands(9)
    if bias is not None:
        operands.append(_accumulator_bias(c, bias))
    return c.importer.quantize(c.standard("Conv", operands, c.attributes), ys, yz)


def qlinear_matmul(c: Conversion) -> Any:
    operands = [_real(c, 0), _real(c, 3, axis=len(c.shape(3)) - 1)]
    return c.importer.quantize(c.standard("MatMul", operands), *c.inputs[6:8])


def qgemm(c: Conversion) -> Any:
    *_, bias, ys, yz = c.operands(9)
    operands = [_real(c, 0), _real(c, 3, axis=0 if c.attributes.get("transB", 0) else 1)]
    gemm: dict[str, Any] = {key: c.attributes[key] for key in ("transA", "transB", "alpha") if key in c.attributes}
    if bias is not None:
        operands.append(_accumulator_bias(c, bias, float(c.attributes.get("alpha", 1.0))))
    result = c.standard("Gemm", operands, gemm)
    return result if ys is None else c.importer.quantize(result, ys, yz)


def _accumulator_bias(c: Conversion, bias: Any, factor: float = 1.0) -> Any:
    """A 32-bit bias in units of the accumulator."""
    x, weight = c.constant(1), c.constant(4)
    if x is None or weight is None:
        raise UserError(f"{c.op_type}: a bias needs constant scales; make them initializers")
    unit = np.float32(factor) * x.astype(np.float32).reshape(-1)[0] * weight.astype(np.float32)
    return c.importer.dequantize(bias, relax.const(unit), relax.const(np.int32(0)), axis=0)


def binary(standard: str, c: Conversion) -> Any:
    """Two quantized operands, one quantized result."""
    *_, ys, yz = c.operands(8)
    return c.importer.quantize(c.standard(standard, [_real(c, 0), _real(c, 3)]), ys, yz, c.inputs[0])


def unary(standard: str, c: Conversion) -> Any:
    """One quantized operand, one quantized result; attributes are the float operator's."""
    x, *_, ys, yz = c.operands(5)
    attributes = {k: v for k, v in c.attributes.items() if k not in ("channels_last", "opset")}
    real, rank = _real(c, 0), len(shape_of(x))
    channels_last = c.attributes.get("channels_last", 0)
    if channels_last:
        real = c.emit(relax.op.permute_dims(real, [0, rank - 1, *range(1, rank - 1)]))
    plain = replace(c, opset=int(c.attributes.get("opset", c.opset)))
    result = plain.standard(standard, [real], attributes)
    if channels_last:
        result = c.emit(relax.op.permute_dims(result, [0, *range(2, rank), 1]))
    return c.importer.quantize(result, ys, yz, x)


def qlinear_softmax(c: Conversion) -> Any:
    """onnxruntime multiplies by the whole number below 1 / scale instead of dividing by the scale; so do we.

    Where its signed kernel wraps around (a probability of one at 128 or more), ours saturates.
    """
    scale = c.constant(3)
    levels = np.floor(np.float32(1) / scale.reshape(-1)[0]) if scale is not None and scale.size == 1 else 0
    if levels >= 1:
        whole = relax.const(np.array(1 / float(levels), np.float32))
        c = replace(c, inputs=[*c.inputs[:3], whole, *c.inputs[4:]])
    return unary("Softmax", c)


def qlinear_concat(c: Conversion) -> Any:
    parts = [_real(c, place) for place in range(2, len(c.inputs), 3)]
    return c.importer.quantize(c.standard("Concat", parts, c.attributes), *c.inputs[:2])


def _product(c: Conversion, a: Any, b: Any, az: Any, bz: Any) -> Any:
    weight, zero_a, zero_b = _centred(b, bz, axis=-1), _scalar(az), _scalar(bz)
    if weight is not None and weight.ndim == 2:
        matrix = np.ascontiguousarray(weight.T)
        attributes = {**_NONE, "zero_point": zero_a or 0, "has_bias": 0}
        result = c.emit(qnn.emit("dense", [a, relax.const(matrix)], attributes))
        return result if zero_a is not None else _less(c, result, az, matrix.astype(np.int64).sum(axis=1))
    if zero_a is None or zero_b is None or min(len(shape_of(a)), len(shape_of(b))) < 2:
        return c.standard("MatMulInteger", [a, b, az, bz])
    return c.emit(
        qnn.emit("matmul", [a, b], {**_NONE, "zero_point_a": zero_a, "zero_point_b": zero_b, "transpose_b": 0})
    )


def conv_integer(c: Conversion) -> Any:
    x, w, xz, wz = c.operands(4)
    weight, shape, known = _centred(w, wz, axis=0), c.shape(), _scalar(xz)
    if weight is None or len(shape) not in (3, 4):
        raise UserError("its weight and their zero points must be constant, with one or two spatial axes: store them")
    attributes = {
        **_NONE,
        **window_attributes(c.attributes, c.auto_pad, shape[2:], weight.shape[2:]),
        "groups": int(c.attributes.get("group", 1)),
        "zero_point": known or 0,
        "has_bias": 0,
    }
    x = as_image(c.importer.bb, x, shape)
    weight = weight[:, :, None, :] if len(shape) == 3 else weight
    result = c.emit(qnn.emit("conv2d", [x, relax.const(weight)], attributes))
    if known is None:
        ones = np.ones((1, *shape_of(x)[1:]), np.int8)
        result = _less(c, result, xz, Conv2d().reference(Conv2d().stated(attributes), [ones, weight]))
    if len(shape) == 3:
        n, channels, _, length = shape_of(result)
        result = c.emit(relax.op.reshape(result, (n, channels, length)))
    return result


def matmul_integer_to_float(c: Conversion) -> Any:
    a, b, a_scale, b_scale, az, bz, bias = c.operands(7)
    product = _product(c, a, b, az, bz)
    scale = c.emit(relax.op.multiply(a_scale, b_scale))
    real = c.emit(relax.op.multiply(relax.op.astype(product, "float32"), scale))
    return real if bias is None else c.emit(relax.op.add(real, bias))


def _less(c: Conversion, result: Any, zero_point: Any, share: np.ndarray) -> Any:
    """result - zero_point * share."""
    factor = c.emit(relax.op.astype(zero_point, "int32"))
    return c.emit(relax.op.subtract(result, c.emit(relax.op.multiply(factor, relax.const(share.astype(np.int32))))))


def _scalar(zero_point: Any) -> int | None:
    """A zero point known now; absent means zero."""
    if zero_point is None:
        return 0
    array = constant(zero_point)
    return int(array.reshape(-1)[0]) if array is not None and array.size == 1 else None


def _centred(weight: Any, zero_point: Any, axis: int) -> np.ndarray | None:
    """Constant weights without their zero point."""
    values = constant(weight)
    zeros = constant(zero_point) if zero_point is not None else np.zeros(1)
    if values is None or zeros is None:
        return None
    exact = values.astype(np.int64)
    if zeros.any():
        exact = exact - along(zeros.astype(np.int64), axis, exact.ndim)
    narrow = exact.min(initial=0) >= -128 and exact.max(initial=0) <= 127
    return np.asarray(exact.astype(np.int8 if narrow else np.int16))


CONVERTERS: dict[str, Callable[[Conversion], Any]] = {
    "QLinearConv": qlinear_conv,
    "QLinearMatMul": qlinear_matmul,
    "QGemm": qgemm,
    "QLinearAdd": partial(binary, "Add"),
    "QLinearMul": partial(binary, "Mul"),
    "QLinearConcat": qlinear_concat,
    "QLinearSoftmax": qlinear_softmax,
    **{
        f"QLinear{standard}": partial(unary, standard)
        for standard in ("Sigmoid", "LeakyRelu", "GlobalAveragePool", "AveragePool", "ReduceMean")
    },
    "MatMulInteger": lambda c: _product(c, *c.operands(4)),
    "ConvInteger": conv_integer,
    "MatMulIntegerToFloat": matmul_integer_to_float,
}
