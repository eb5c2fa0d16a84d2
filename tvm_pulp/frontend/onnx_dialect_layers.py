"""Converters of the integer dialect: matrix products, requantization, element-wise arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.errors import UserError
from tvm_pulp.frontend.onnx_dialect_values import Values
from tvm_pulp.frontend.onnx_file import Node
from tvm_pulp.frontend.onnx_windows import pads_of, pairs
from tvm_pulp.qnn.requant import narrow_enough

NONE = qnn.Requant().attributes()


def convert_conv(values: Values, node: Node) -> None:
    """Conv, one or two spatial axes; the bias is a third operand."""
    x, weight = values.expression(node.inputs[0]), values.constant(node.inputs[1], None)
    spec = values.spec(node.inputs[0])
    one_dimensional = len(spec.shape) == 3
    if len(spec.shape) not in (3, 4):
        raise UserError(f"node '{node.name}' (Conv): {len(spec.shape) - 2} spatial axes; one and two are supported")
    if one_dimensional:
        n, c, length = spec.shape
        x = values.builder.emit(relax.op.reshape(x, (n, c, 1, length)))
        weight = weight[:, :, None, :]
    kernel = list(weight.shape[2:])
    attributes = {
        **NONE,
        "layout": "NCHW",
        "strides": pairs(node, "strides", one_dimensional),
        "dilation": pairs(node, "dilations", one_dimensional),
        "pads": pads_of(node, spec.shape[2:], kernel, one_dimensional),
        "groups": node.integer("group", default=1),
        "zero_point": 0,
        "has_bias": int(len(node.inputs) > 2 and bool(node.inputs[2])),
    }
    arguments = [x, weight] + ([values.constant(node.inputs[2]).reshape(-1)] if attributes["has_bias"] else [])
    result = values.emit("conv2d", arguments, attributes, node.outputs[0])
    if one_dimensional:
        n, o, _, length = qnn.operator.spec_of(result).shape
        values.bind(relax.op.reshape(result, (n, o, length)), node.outputs[0])


def convert_gemm(values: Values, node: Node) -> None:
    """Gemm: alpha * A * B + beta * C with integer alpha and beta."""
    alpha, beta = node.integer("alpha", default=1), node.integer("beta", default=1)
    x = values.expression(node.inputs[0])
    if node.integer("transA", default=0):
        x = values.builder.emit(qnn.emit("transpose", [x], {"axes": [1, 0]}))
    transposed = bool(node.integer("transB", default=0))
    addend = node.inputs[2] if len(node.inputs) > 2 and node.inputs[2] else None
    name = node.outputs[0]
    if not values.is_constant(node.inputs[1]):
        product = _matmul(values, x, values.expression(node.inputs[1]), name, transposed)
    else:
        matrix = values.constant(node.inputs[1], None).astype(np.int64) * alpha
        matrix = matrix if transposed else matrix.T
        weight = matrix.astype(np.int8) if np.abs(matrix).max(initial=0) <= 127 else matrix.astype(np.int32)
        if addend and values.is_constant(addend):
            bias = values.constant(addend).astype(np.int64) * beta
            if bias.size in (1, weight.shape[0]) and (bias.ndim <= 1 or bias.shape[-1] == bias.size):
                bias = np.broadcast_to(bias.reshape(-1), weight.shape[:1]).astype(np.int32)
                attributes = {**NONE, "zero_point": 0, "has_bias": 1}
                values.emit("dense", [x, np.ascontiguousarray(weight), bias], attributes, name)
                return
        product = values.emit(
            "dense", [x, np.ascontiguousarray(weight)], {**NONE, "zero_point": 0, "has_bias": 0}, name
        )
        alpha = 1
    if alpha != 1:
        product = _binary(values, "mul", product, relax.const(np.full(1, alpha, np.int32)), name)
    if addend:
        other = values.expression(addend)
        if beta != 1:
            other = _binary(values, "mul", other, relax.const(np.full(1, beta, np.int32)), name)
        _binary(values, "add", product, other, name)


def convert_matmul(values: Values, node: Node) -> None:
    """MatMul; a constant two-dimensional right operand makes it a dense layer."""
    a, b = node.inputs
    if values.is_constant(b) and values.graph.constants[b].ndim == 2 and not values.is_constant(a):
        weight = np.ascontiguousarray(values.constant(b, None).T)
        attributes = {**NONE, "zero_point": 0, "has_bias": 0}
        values.emit("dense", [values.expression(a), weight], attributes, node.outputs[0])
        return
    _matmul(values, values.expression(a), values.expression(b), node.outputs[0], False)


def _matmul(values: Values, a: Any, b: Any, name: str, transpose_b: bool) -> Any:
    attributes = {**NONE, "zero_point_a": 0, "zero_point_b": 0, "transpose_b": int(transpose_b)}
    return values.emit("matmul", [a, b], attributes, name)


def _binary(values: Values, operator: str, a: Any, b: Any, name: str) -> Any:
    attributes: dict[str, Any] = {**NONE, "zero_point_a": 0, "zero_point_b": 0}
    if operator == "add":
        attributes |= {"form": "plain", "requant_a": "none", "requant_b": "none"}
    return values.emit(operator, [a, b], attributes, name)


def binary(operator: str) -> Callable[[Values, Node], None]:
    """Converter of an element-wise operator on two operands; the result is exact in 32 bits."""

    def convert(values: Values, node: Node) -> None:
        a, b = (values.expression(i) for i in node.inputs)
        _binary(values, operator, a, b, node.outputs[0])

    return convert


def convert_requant_shift(values: Values, node: Node) -> None:
    """RequantShift: (x * mul + add + div/2) >> log2(div), clipped. Rounding goes into `add`."""
    levels, signed = node.integer("n_levels", "n_levels_out"), node.integer("signed", default=1)
    div = node.integer("div")
    shift = div.bit_length() - 1
    if div != 1 << shift:
        raise UserError(f"node '{node.name}' (RequantShift): div {div} is not a power of two")
    spec = values.spec(node.inputs[0])
    mul, axis = _channel_vector(values, node, node.inputs[1], spec.shape)
    add, add_axis = _channel_vector(values, node, node.inputs[2], spec.shape)
    if mul.size > 1 and add.size > 1 and axis != add_axis:
        raise UserError(f"node '{node.name}' (RequantShift): mul and add run along different axes")
    axis = axis if mul.size > 1 else add_axis
    size = max(mul.size, add.size)
    mul, add = (np.broadcast_to(v, (size,)) for v in (mul, add))
    add = add + (div >> 1)
    if np.abs(add).max(initial=0) >= 1 << 31 or np.abs(mul).max(initial=0) >= 1 << 31:
        raise UserError(f"node '{node.name}' (RequantShift): mul or add exceed 32 bits")
    low, high = (-(levels // 2), levels // 2 - 1) if signed else (0, levels - 1)
    rule = qnn.Requant("pulp", shift, 0, low, high, wide=not narrow_enough(spec.magnitude, mul, add))
    attributes = {**rule.attributes(), "zero_point": 0, "axis": axis}
    arguments = [values.expression(node.inputs[0]), mul.astype(np.int32), add.astype(np.int32)]
    values.emit("requantize", arguments, attributes, node.outputs[0])


def _channel_vector(values: Values, node: Node, name: str, shape: tuple[int, ...]) -> tuple[np.ndarray, int]:
    """A multiplier or addend as a vector and the axis it runs along."""
    array = values.constant(name, "int64")
    if array.size == 1:
        return array.reshape(1), len(shape) - 1
    rank = len(shape)
    if rank == 3 and array.ndim == 3 and array.shape[1:] == (1, 1):
        array = array[:, :, 0]  # [C,1,1] on [N,C,L] means the channel, not numpy's axis
    axes = [a for a in range(array.ndim) if array.shape[a] > 1]
    axis = axes[0] + rank - array.ndim
    if len(axes) != 1 or axis < 0 or array.size != shape[axis]:
        raise UserError(
            f"node '{node.name}' ({node.op_type}): '{name}' of shape {list(array.shape)} is neither per tensor nor "
            f"along one axis of {list(shape)}"
        )
    return array.reshape(-1), axis


def convert_true_integer_div(values: Values, node: Node) -> None:
    delta, eps, eta = (node.integer(k, default=d) for k, d in (("Delta", 1), ("eps", 0), ("eta", 1)))
    attributes = {**NONE, "operands": 1, "numerator": delta * eta, "denominator": node.integer("y") * eta + eps}
    if attributes["denominator"] == 0:
        raise UserError(f"node '{node.name}' (TrueIntegerDiv): y * eta + eps is zero: re-export the model")
    values.emit("integer_div", [values.expression(node.inputs[0])], attributes, node.outputs[0])


def convert_integer_div(values: Values, node: Node) -> None:
    delta, eps, eta = (node.integer(k, default=d) for k, d in (("Delta", 1), ("eps", 0), ("eta", 1)))
    low, high = values.spec(node.inputs[1]).range
    divisors = values.constant(node.inputs[1], "int64") if values.is_constant(node.inputs[1]) else None
    if divisors is not None:
        zero = bool((divisors * eta + eps == 0).any())
    else:
        zero = eps == 0 if eta == 0 else -eps % eta == 0 and low <= -eps // eta <= high
    if zero:
        raise UserError(
            f"node '{node.name}' (IntegerDiv): the divisor can be zero: export it with eps 1 and eta above 1"
        )
    attributes = {**NONE, "operands": 2, "numerator": delta * eta, "eta": eta, "eps": eps}
    values.emit("integer_div", [values.expression(i) for i in node.inputs], attributes, node.outputs[0])


CONVERTERS: dict[str, Callable[[Values, Node], None]] = {
    "Conv": convert_conv,
    "Gemm": convert_gemm,
    "MatMul": convert_matmul,
    "RequantShift": convert_requant_shift,
    "Add": binary("add"),
    "Sub": binary("sub"),
    "Mul": binary("mul"),
    "TrueIntegerDiv": convert_true_integer_div,
    "IntegerDiv": convert_integer_div,
}
