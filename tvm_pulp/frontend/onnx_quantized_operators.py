"""Quantized ONNX operators (QLinear..., com.microsoft included) as dequantize, the float operator, quantize.

That is what they mean; canonicalization makes integers of it. The operators that deliver 32-bit accumulators are in
`onnx_integer_operators`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from tvm import relax

from tvm_pulp.errors import UserError
from tvm_pulp.frontend import onnx_integer_operators
from tvm_pulp.frontend.relax_constant import constant

if TYPE_CHECKING:
    from tvm_pulp.frontend.onnx_importer import QuantizedImporter

Converter = Callable[["QuantizedImporter", Sequence[Any], dict[str, Any], int], Any]


def qlinear_conv(importer: QuantizedImporter, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
    x, xs, xz, w, ws, wz, ys, yz = inputs[:8]
    operands = [importer.dequantize(x, xs, xz), importer.dequantize(w, ws, wz, axis=0)]
    if len(inputs) > 8 and inputs[8] is not None:
        operands.append(_accumulator_bias(importer, inputs[8], xs, ws, "QLinearConv"))
    return importer.quantize(importer.standard("Conv", operands, attrs, opset), ys, yz)


def qlinear_matmul(importer: QuantizedImporter, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
    a, a_scale, az, b, b_scale, bz, ys, yz = inputs[:8]
    last = len(b.ty.shape.values) - 1
    operands = [importer.dequantize(a, a_scale, az), importer.dequantize(b, b_scale, bz, axis=last)]
    return importer.quantize(importer.standard("MatMul", operands, {}, opset), ys, yz)


def qgemm(importer: QuantizedImporter, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
    a, a_scale, az, b, b_scale, bz, c, ys, yz = onnx_integer_operators.optional(inputs, 9)
    columns = 0 if attrs.get("transB", 0) else 1
    operands = [importer.dequantize(a, a_scale, az), importer.dequantize(b, b_scale, bz, axis=columns)]
    gemm: dict[str, Any] = {key: attrs[key] for key in ("transA", "transB", "alpha") if key in attrs}
    if c is not None:
        operands.append(_accumulator_bias(importer, c, a_scale, b_scale, "QGemm", float(attrs.get("alpha", 1.0))))
    result = importer.standard("Gemm", operands, gemm, opset)
    return result if ys is None else importer.quantize(result, ys, yz)


def _accumulator_bias(
    importer: QuantizedImporter, bias: Any, x_scale: Any, weight_scale: Any, op: str, factor: float = 1.0
) -> Any:
    """A 32-bit bias in units of the accumulator."""
    x, weight = constant(x_scale), constant(weight_scale)
    if x is None or weight is None:
        raise UserError(f"{op}: a bias needs constant scales; make them initializers")
    unit = np.float32(factor) * x.astype(np.float32).reshape(-1)[0] * weight.astype(np.float32)
    return importer.dequantize(bias, relax.const(unit), relax.const(np.int32(0)), axis=0)


def binary(standard: str) -> Converter:
    """Two quantized operands, one quantized result."""

    def convert(importer: QuantizedImporter, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
        a, a_scale, az, b, b_scale, bz, ys = inputs[:7]
        operands = [importer.dequantize(a, a_scale, az), importer.dequantize(b, b_scale, bz)]
        zero_point = inputs[7] if len(inputs) > 7 else None
        return importer.quantize(importer.standard(standard, operands, {}, opset), ys, zero_point, a)

    return convert


def unary(standard: str) -> Converter:
    """One quantized operand, one quantized result; attributes are the float operator's."""

    def convert(importer: QuantizedImporter, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
        x, xs, xz, ys = inputs[:4]
        zero_point = inputs[4] if len(inputs) > 4 else None
        real = importer.dequantize(x, xs, xz)
        channels_last = bool(attrs.pop("channels_last", 0))
        if channels_last:
            rank = len(x.ty.shape.values)
            real = importer.bb.emit(relax.op.permute_dims(real, [0, rank - 1, *range(1, rank - 1)]))
        result = importer.standard(standard, [real], attrs, int(attrs.pop("opset", opset)))
        if channels_last:
            result = importer.bb.emit(relax.op.permute_dims(result, [0, *range(2, rank), 1]))
        return importer.quantize(result, ys, zero_point, x)

    return convert


def qlinear_softmax(importer: QuantizedImporter, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
    """onnxruntime multiplies by the whole number below 1 / scale instead of dividing by the scale; so do we.

    Where its signed kernel wraps around (a probability of one at 128 or more), ours saturates.
    """
    scale = constant(inputs[3])
    levels = np.floor(np.float32(1) / scale.reshape(-1)[0]) if scale is not None and scale.size == 1 else 0
    if levels >= 1:
        inputs = [*inputs[:3], relax.const(np.array(1 / float(levels), np.float32)), *inputs[4:]]
    return unary("Softmax")(importer, inputs, attrs, opset)


def qlinear_concat(importer: QuantizedImporter, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
    ys, yz = inputs[:2]
    parts = [importer.dequantize(*inputs[i : i + 3]) for i in range(2, len(inputs), 3)]
    return importer.quantize(importer.standard("Concat", parts, attrs, opset), ys, yz)


CONVERTERS: dict[str, Converter] = {
    "QLinearConv": qlinear_conv,
    "QLinearMatMul": qlinear_matmul,
    "QGemm": qgemm,
    "QLinearAdd": binary("Add"),
    "QLinearMul": binary("Mul"),
    "QLinearConcat": qlinear_concat,
    "QLinearSigmoid": unary("Sigmoid"),
    "QLinearLeakyRelu": unary("LeakyRelu"),
    "QLinearSoftmax": qlinear_softmax,
    "QLinearGlobalAveragePool": unary("GlobalAveragePool"),
    "QLinearAveragePool": unary("AveragePool"),
    "QLinearReduceMean": unary("ReduceMean"),
    **onnx_integer_operators.CONVERTERS,
}
