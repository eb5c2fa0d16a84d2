"""Quantized ONNX operators (QLinear..., com.microsoft included) as dequantize, the float operator, quantize.

That is what they mean; canonicalization makes integers of it. The operators that deliver 32-bit accumulators are in
`onnx_integer_operators`.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp.errors import UserError
from tvm_pulp.frontend import onnx_integer_operators
from tvm_pulp.frontend.onnx_conversion import Conversion
from tvm_pulp.frontend.relax_values import shape_of

Converter = Callable[[Conversion], Any]


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


def binary(standard: str) -> Converter:
    """Two quantized operands, one quantized result."""

    def convert(c: Conversion) -> Any:
        *_, ys, yz = c.operands(8)
        return c.importer.quantize(c.standard(standard, [_real(c, 0), _real(c, 3)]), ys, yz, c.inputs[0])

    return convert


def unary(standard: str) -> Converter:
    """One quantized operand, one quantized result; attributes are the float operator's."""

    def convert(c: Conversion) -> Any:
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

    return convert


def qlinear_softmax(c: Conversion) -> Any:
    """onnxruntime multiplies by the whole number below 1 / scale instead of dividing by the scale; so do we.

    Where its signed kernel wraps around (a probability of one at 128 or more), ours saturates.
    """
    scale = c.constant(3)
    levels = np.floor(np.float32(1) / scale.reshape(-1)[0]) if scale is not None and scale.size == 1 else 0
    if levels >= 1:
        whole = relax.const(np.array(1 / float(levels), np.float32))
        c = replace(c, inputs=[*c.inputs[:3], whole, *c.inputs[4:]])
    return unary("Softmax")(c)


def qlinear_concat(c: Conversion) -> Any:
    parts = [_real(c, place) for place in range(2, len(c.inputs), 3)]
    return c.importer.quantize(c.standard("Concat", parts, c.attributes), *c.inputs[:2])


CONVERTERS: dict[str, Converter] = {
    "QLinearConv": qlinear_conv,
    "QLinearMatMul": qlinear_matmul,
    "QGemm": qgemm,
    "QLinearAdd": binary("Add"),
    "QLinearMul": binary("Mul"),
    "QLinearConcat": qlinear_concat,
    "QLinearSoftmax": qlinear_softmax,
    **{
        f"QLinear{standard}": unary(standard)
        for standard in ("Sigmoid", "LeakyRelu", "GlobalAveragePool", "AveragePool", "ReduceMean")
    },
    **onnx_integer_operators.CONVERTERS,
}
