"""Converters of the integer dialect: matrix products, requantization, element-wise arithmetic."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.errors import refuse_if
from tvm_pulp.frontend.onnx_dialect_movement import as_given
from tvm_pulp.frontend.onnx_dialect_values import Values
from tvm_pulp.frontend.onnx_file import OnnxNode
from tvm_pulp.frontend.relax_values import as_image
from tvm_pulp.frontend.windows import window_attributes
from tvm_pulp.qnn.requant import narrow_enough

NONE = qnn.Requant().attributes()


def convert_conv(values: Values, node: OnnxNode) -> None:
    """Conv, one or two spatial axes; the bias is a third operand."""
    weight, shape = values.constant(1, None), values.spec().shape
    refuse_if(len(shape) not in (3, 4), f"{node.label}: {len(shape) - 2} spatial axes; one and two are supported")
    attributes = {
        **NONE,
        **window_attributes(node.attributes, node.auto_pad, shape[2:], weight.shape[2:]),
        "groups": node.integer("group", default=1),
        "zero_point": 0,
        "has_bias": int(node.has(2)),
    }
    x = as_image(values.builder, values.operand(), shape)
    bias = [values.constant(2).reshape(-1)] if node.has(2) else []
    weight = weight[:, :, None, :] if len(shape) == 3 else weight
    as_given(values, values.emit("conv2d", [x, weight, *bias], attributes), len(shape))


def convert_gemm(values: Values, node: OnnxNode) -> None:
    """Gemm: alpha * A * B + beta * C with integer alpha and beta."""
    alpha, beta = node.integer("alpha", default=1), node.integer("beta", default=1)
    x = values.operand()
    if node.integer("transA", default=0):
        x = values.builder.emit(qnn.emit("transpose", [x], {"axes": [1, 0]}))
    transposed = bool(node.integer("transB", default=0))
    if not values.is_constant(1):
        product = _scaled(values, _matmul(values, x, values.operand(1), transposed), alpha)
    else:
        matrix = values.constant(1, None).astype(np.int64) * alpha
        matrix = matrix if transposed else matrix.T
        weight = matrix.astype(np.int8) if np.abs(matrix).max(initial=0) <= 127 else matrix.astype(np.int32)
        if node.has(2) and values.is_constant(2):
            bias = values.constant(2).astype(np.int64) * beta
            if bias.size in (1, weight.shape[0]) and (bias.ndim <= 1 or bias.shape[-1] == bias.size):
                _dense(values, x, weight, np.broadcast_to(bias.reshape(-1), weight.shape[:1]).astype(np.int32))
                return
        product = _dense(values, x, weight)
    if node.has(2):
        _binary(values, "add", product, _scaled(values, values.operand(2), beta))


def convert_matmul(values: Values, node: OnnxNode) -> None:
    """MatMul; a constant two-dimensional right operand makes it a dense layer."""
    a, b = node.inputs
    if values.is_constant(1) and values.graph.constants[b].ndim == 2 and not values.is_constant(0):
        _dense(values, values.expression(a), values.constant(1, None).T)
    else:
        _matmul(values, values.expression(a), values.expression(b), False)


def _dense(values: Values, x: Any, weight: np.ndarray, *bias: np.ndarray) -> Any:
    attributes = {**NONE, "zero_point": 0, "has_bias": len(bias)}
    return values.emit("dense", [x, np.ascontiguousarray(weight), *bias], attributes)


def _matmul(values: Values, a: Any, b: Any, transpose_b: bool) -> Any:
    attributes = {**NONE, "zero_point_a": 0, "zero_point_b": 0, "transpose_b": int(transpose_b)}
    return values.emit("matmul", [a, b], attributes)


def _scaled(values: Values, x: Any, factor: int) -> Any:
    return x if factor == 1 else _binary(values, "mul", x, relax.const(np.full(1, factor, np.int32)))


def _binary(values: Values, operator: str, a: Any, b: Any) -> Any:
    attributes: dict[str, Any] = {**NONE, "zero_point_a": 0, "zero_point_b": 0}
    if operator == "add":
        attributes |= {"form": "plain", "requant_a": "none", "requant_b": "none"}
    return values.emit(operator, [a, b], attributes)


def binary(operator: str, values: Values, node: OnnxNode) -> None:
    """An element-wise operator on two operands; the result is exact in 32 bits."""
    a, b = (values.expression(i) for i in node.inputs)
    _binary(values, operator, a, b)


def convert_requant_shift(values: Values, node: OnnxNode) -> None:
    """RequantShift: (x * mul + add + div/2) >> log2(div), clipped. Rounding goes into `add`."""
    levels, signed = node.integer("n_levels", "n_levels_out"), node.integer("signed", default=1)
    shift, spec = node.power_of_two("div"), values.spec()
    mul, axis = _channel_vector(values, 1, spec.shape)
    add, add_axis = _channel_vector(values, 2, spec.shape)
    refuse_if(mul.size > 1 and add.size > 1 and axis != add_axis, f"{node.label}: mul and add run along different axes")
    axis = axis if mul.size > 1 else add_axis
    mul, add = (np.broadcast_to(v, (max(mul.size, add.size),)) for v in (mul, add))
    add = add + (1 << shift >> 1)
    largest = max(np.abs(v).max(initial=0) for v in (mul, add))
    refuse_if(largest >= 1 << 31, f"{node.label}: mul or add exceed 32 bits")
    low, high = (-(levels // 2), levels // 2 - 1) if signed else (0, levels - 1)
    rule = qnn.Requant("pulp", shift, 0, low, high, wide=not narrow_enough(spec.magnitude, mul, add))
    arguments = [values.operand(), mul.astype(np.int32), add.astype(np.int32)]
    values.emit("requantize", arguments, {**rule.attributes(), "zero_point": 0, "axis": axis})


def _channel_vector(values: Values, place: int, shape: tuple[int, ...]) -> tuple[np.ndarray, int]:
    """A multiplier or addend as a vector and the axis it runs along."""
    array, rank = values.constant(place, "int64"), len(shape)
    if array.size == 1:
        return array.reshape(1), rank - 1
    if rank == 3 and array.ndim == 3 and array.shape[1:] == (1, 1):
        array = array[:, :, 0]  # [C,1,1] on [N,C,L] means the channel, not numpy's axis
    axes = [a for a in range(array.ndim) if array.shape[a] > 1]
    axis = axes[0] + rank - array.ndim
    refuse_if(
        len(axes) != 1 or axis < 0 or array.size != shape[axis],
        f"{values.node.label}: '{values.node.inputs[place]}' of shape {list(array.shape)} is neither per tensor nor "
        f"along one axis of {list(shape)}",
    )
    return array.reshape(-1), axis


def convert_true_integer_div(values: Values, node: OnnxNode) -> None:
    delta, eps, eta = (node.integer(k, default=d) for k, d in (("Delta", 1), ("eps", 0), ("eta", 1)))
    denominator = node.integer("y") * eta + eps
    refuse_if(denominator == 0, f"{node.label}: y * eta + eps is zero: re-export the model")
    attributes = {**NONE, "operands": 1, "numerator": delta * eta, "denominator": denominator}
    values.emit("integer_div", [values.operand()], attributes)


def convert_integer_div(values: Values, node: OnnxNode) -> None:
    delta, eps, eta = (node.integer(k, default=d) for k, d in (("Delta", 1), ("eps", 0), ("eta", 1)))
    low, high = values.spec(1).range
    if values.is_constant(1):
        zero = bool((values.constant(1, "int64") * eta + eps == 0).any())
    else:
        zero = eps == 0 if eta == 0 else -eps % eta == 0 and low <= -eps // eta <= high
    refuse_if(zero, f"{node.label}: the divisor can be zero: export it with eps 1 and eta above 1")
    attributes = {**NONE, "operands": 2, "numerator": delta * eta, "eta": eta, "eps": eps}
    values.emit("integer_div", [values.expression(i) for i in node.inputs], attributes)


CONVERTERS: dict[str, Callable[[Values, OnnxNode], None]] = {
    "Conv": convert_conv,
    "Gemm": convert_gemm,
    "MatMul": convert_matmul,
    "RequantShift": convert_requant_shift,
    "Add": partial(binary, "add"),
    "Sub": partial(binary, "sub"),
    "Mul": partial(binary, "mul"),
    "TrueIntegerDiv": convert_true_integer_div,
    "IntegerDiv": convert_integer_div,
}
