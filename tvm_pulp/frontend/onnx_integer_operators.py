"""ONNX operators whose result is a 32-bit accumulator: ConvInteger, MatMulInteger, and the latter scaled to float.

Zero points may be known only at run time (DynamicQuantizeLinear computes them). The layer then takes its input as it is
and the zero point's share, a constant per output, is subtracted afterwards: sum((x - z) w) = sum(x w) - z sum(w).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.errors import UserError
from tvm_pulp.frontend.onnx_file import Node
from tvm_pulp.frontend.onnx_windows import pads_of, pairs
from tvm_pulp.frontend.relax_constant import constant
from tvm_pulp.qnn.operator import OPERATORS, spec_of

if TYPE_CHECKING:
    from tvm_pulp.frontend.onnx_importer import QuantizedImporter

_NONE = qnn.Requant().attributes()


def optional(inputs: Sequence[Any], count: int) -> list[Any]:
    """Exactly `count` operands; those left out are None."""
    return (list(inputs) + [None] * count)[:count]


def matmul_integer(importer: QuantizedImporter, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
    a, b, az, bz = optional(inputs, 4)
    weight = _centred(b, bz, axis=-1)
    if weight is None or weight.ndim != 2:
        return _product_of_activations(importer, a, b, az, bz)
    matrix = np.ascontiguousarray(weight.T)
    known = _scalar(az)
    attributes = {**_NONE, "zero_point": known or 0, "has_bias": 0}
    result = importer.bb.emit(importer.bb.normalize(qnn.emit("dense", [a, relax.const(matrix)], attributes)))
    if known is not None:
        return result
    return _less(importer, result, az, matrix.astype(np.int64).sum(axis=1))


def _product_of_activations(importer: QuantizedImporter, a: Any, b: Any, az: Any, bz: Any) -> Any:
    zero_a, zero_b = _scalar(az), _scalar(bz)
    if zero_a is None or zero_b is None or min(len(a.ty.shape.values), len(b.ty.shape.values)) < 2:
        return importer.standard("MatMulInteger", [a, b, az, bz], {}, importer.opset)
    attributes = {**_NONE, "zero_point_a": zero_a, "zero_point_b": zero_b, "transpose_b": 0}
    return importer.bb.emit(importer.bb.normalize(qnn.emit("matmul", [a, b], attributes)))


def conv_integer(importer: QuantizedImporter, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
    x, w, xz, wz = optional(inputs, 4)
    weight, shape = _centred(w, wz, axis=0), spec_of(x).shape
    if weight is None or len(shape) not in (3, 4):
        raise UserError("ConvInteger: the weight must be constant, with one or two spatial axes")
    plain = {k: v.decode() if isinstance(v, bytes) else v for k, v in attrs.items() if k != "tvm_custom"}
    node, flat = Node("ConvInteger", "ConvInteger", (), (), plain), len(shape) == 3
    if flat:
        x = importer.bb.emit(relax.op.reshape(x, (*shape[:2], 1, shape[2])))
        weight = weight[:, :, None, :]
    known = _scalar(xz)
    attributes = {
        **_NONE,
        "layout": "NCHW",
        "strides": pairs(node, "strides", flat),
        "dilation": pairs(node, "dilations", flat),
        "pads": pads_of(node, shape[2:], list(weight.shape[2:]), flat),
        "groups": int(plain.get("group", 1)),
        "zero_point": known or 0,
        "has_bias": 0,
    }
    result = importer.bb.emit(importer.bb.normalize(qnn.emit("conv2d", [x, relax.const(weight)], attributes)))
    if known is None:
        ones = np.ones((1, *spec_of(x).shape[1:]), np.int8)
        result = _less(importer, result, xz, OPERATORS["conv2d"].reference(attributes, [ones, weight]))
    if flat:
        n, o, _, length = spec_of(result).shape
        result = importer.bb.emit(relax.op.reshape(result, (n, o, length)))
    return result


def matmul_integer_to_float(
    importer: QuantizedImporter, inputs: Sequence[Any], attrs: dict[str, Any], opset: int
) -> Any:
    a, b, a_scale, b_scale, az, bz, bias = optional(inputs, 7)
    product = matmul_integer(importer, [a, b, az, bz], {}, opset)
    scale = importer.bb.emit(relax.op.multiply(a_scale, b_scale))
    real = importer.bb.emit(relax.op.multiply(relax.op.astype(product, "float32"), scale))
    return real if bias is None else importer.bb.emit(relax.op.add(real, bias))


def _less(importer: QuantizedImporter, result: Any, zero_point: Any, share: np.ndarray) -> Any:
    """result - zero_point * share."""
    factor = importer.bb.emit(relax.op.astype(zero_point, "int32"))
    return importer.bb.emit(
        relax.op.subtract(result, importer.bb.emit(relax.op.multiply(factor, relax.const(share.astype(np.int32)))))
    )


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
        zeros = zeros.astype(np.int64).reshape(-1)
        shape = [1] * exact.ndim
        shape[axis] = zeros.size
        exact = exact - zeros.reshape(shape)
    narrow = np.abs(exact).max(initial=0) <= 127 or (exact.min(initial=0) >= -128 and exact.max(initial=0) <= 127)
    return np.asarray(exact.astype(np.int8 if narrow else np.int16))


CONVERTERS: dict[str, Callable[..., Any]] = {
    "MatMulInteger": matmul_integer,
    "ConvInteger": conv_integer,
    "MatMulIntegerToFloat": matmul_integer_to_float,
}
