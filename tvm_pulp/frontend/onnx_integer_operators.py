"""ONNX operators whose result is a 32-bit accumulator: ConvInteger, MatMulInteger, and the latter scaled to float.

Zero points may be known only at run time (DynamicQuantizeLinear computes them). The layer then takes its input as it is
and the zero point's share, a constant per output, is subtracted afterwards: sum((x - z) w) = sum(x w) - z sum(w).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.errors import UserError
from tvm_pulp.frontend.onnx_conversion import Conversion
from tvm_pulp.frontend.onnx_file import Node
from tvm_pulp.frontend.relax_values import as_image, constant, shape_of
from tvm_pulp.frontend.windows import window_attributes
from tvm_pulp.qnn.operator import OPERATORS

_NONE = qnn.Requant().attributes()


def _layer(c: Conversion, operator: str, operands: list[Any], attributes: dict[str, Any]) -> Any:
    return c.emit(c.importer.bb.normalize(qnn.emit(operator, operands, attributes)))


def matmul_integer(c: Conversion) -> Any:
    return _product(c, *c.operands(4))


def _product(c: Conversion, a: Any, b: Any, az: Any, bz: Any) -> Any:
    weight, known = _centred(b, bz, axis=-1), _scalar(az)
    if weight is None or weight.ndim != 2:
        return _product_of_activations(c, a, b, az, bz)
    matrix = np.ascontiguousarray(weight.T)
    attributes = {**_NONE, "zero_point": known or 0, "has_bias": 0}
    result = _layer(c, "dense", [a, relax.const(matrix)], attributes)
    return result if known is not None else _less(c, result, az, matrix.astype(np.int64).sum(axis=1))


def _product_of_activations(c: Conversion, a: Any, b: Any, az: Any, bz: Any) -> Any:
    zero_a, zero_b = _scalar(az), _scalar(bz)
    if zero_a is None or zero_b is None or min(len(shape_of(a)), len(shape_of(b))) < 2:
        return c.standard("MatMulInteger", [a, b, az, bz])
    attributes = {**_NONE, "zero_point_a": zero_a, "zero_point_b": zero_b, "transpose_b": 0}
    return _layer(c, "matmul", [a, b], attributes)


def conv_integer(c: Conversion) -> Any:
    x, w, xz, wz = c.operands(4)
    weight, shape, known = _centred(w, wz, axis=0), c.shape(), _scalar(xz)
    if weight is None or len(shape) not in (3, 4):
        raise UserError("ConvInteger: the weight must be constant, with one or two spatial axes")
    plain = {name: c.text(name, "") if isinstance(v, bytes) else v for name, v in c.attributes.items()}
    node = Node("ConvInteger", "ConvInteger", (), (), plain)
    attributes = {
        **_NONE,
        **window_attributes(node, shape[2:], weight.shape[2:]),
        "groups": node.integer("group", default=1),
        "zero_point": known or 0,
        "has_bias": 0,
    }
    x = as_image(c.importer.bb, x, shape)
    weight = weight[:, :, None, :] if len(shape) == 3 else weight
    result = _layer(c, "conv2d", [x, relax.const(weight)], attributes)
    if known is None:
        ones = np.ones((1, *shape_of(x)[1:]), np.int8)
        result = _less(c, result, xz, OPERATORS["conv2d"].reference(attributes, [ones, weight]))
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
        shape = [1] * exact.ndim
        shape[axis] = zeros.size
        exact = exact - zeros.astype(np.int64).reshape(shape)
    narrow = exact.min(initial=0) >= -128 and exact.max(initial=0) <= 127
    return np.asarray(exact.astype(np.int8 if narrow else np.int16))


CONVERTERS: dict[str, Callable[[Conversion], Any]] = {
    "MatMulInteger": matmul_integer,
    "ConvInteger": conv_integer,
    "MatMulIntegerToFloat": matmul_integer_to_float,
}
