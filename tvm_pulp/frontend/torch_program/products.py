"""Matrix products; those of dequantized integers as ONNX's quantizers write them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tvm_pulp.frontend.torch_program.elementwise import Operators
from tvm_pulp.frontend.torch_program.graph_builder import Dequantized, GraphBuilder, Value, onnx_type


def linear(g: GraphBuilder, x: Value, weight: Value, bias: Value | None = None) -> str:
    """x W^T + b: Gemm of matrices, else a product with the transposed weight."""
    dynamic = _dynamic_product(g, x, weight)
    if dynamic is not None:
        return dynamic if bias is None else g.emit("Add", dynamic, bias)
    if x.rank == 2 and bias is not None:
        return g.emit("Gemm", x, weight, bias, transB=1)
    product = g.emit("MatMul", x, transposed(g, weight, (1, 0)))
    return product if bias is None else g.emit("Add", product, bias)


def transposed(g: GraphBuilder, x: Value, order: tuple[int, ...]) -> str:
    """A tensor with its axes in another order; constants, also quantized ones, are turned here and now."""
    held, quantized = g.array(x), g.dequantized.get(x.name)
    if held is not None:
        return g.constant(held.transpose(order))
    if quantized is None or quantized.integers not in g.constants:
        return g.permuted(x, *order)
    axis = None if quantized.axis is None else order.index(quantized.axis)
    integers = g.constant(g.constants[quantized.integers].transpose(order))
    return g.dequantize(Dequantized(integers, quantized.scale, quantized.zero_point, axis))


def _dynamic_product(g: GraphBuilder, x: Value, weight: Value) -> str | None:
    """Integers whose scale is known at run time only, times constant integers: a sum of integers, then its scale."""
    left, right = g.dequantized.get(x.name), g.dequantized.get(weight.name)
    if left is None or right is None or left.scale not in g.dynamic or right.integers not in g.constants:
        return None
    if right.axis not in (None, 0):
        return None
    turned = g.constant(g.constants[right.integers].transpose())
    total = g.emit("MatMulInteger", left.integers, turned, left.zero_point, right.zero_point)
    scale = g.emit("Mul", left.scale, right.scale)
    return g.emit("Mul", g.emit("Cast", total, to=onnx_type("float32")), scale)


def addmm(g: GraphBuilder, bias: Value, x: Value, y: Value, beta: float, alpha: float) -> str:
    if bias.rank <= 2 and x.rank == 2:
        return g.emit("Gemm", x, y, bias, alpha=float(alpha), beta=float(beta))
    product = g.emit("MatMul", x, y)
    product = product if alpha == 1 else g.emit("Mul", product, np.float32(alpha))
    added: Any = bias if beta == 1 else g.emit("Mul", bias, np.float32(beta))
    return g.emit("Add", product, added)


OPERATORS: Operators = {
    "aten.linear": linear,
    **{f"aten.{name}": lambda g, x, y: g.emit("MatMul", x, y) for name in ("matmul", "mm", "bmm", "mv", "dot")},
    "aten.addmm": addmm,
    "aten.baddbmm": addmm,
    "aten.outer": lambda g, x, y: g.emit("Mul", g.reshape(x, [-1, 1]), g.reshape(y, [1, -1])),
}
