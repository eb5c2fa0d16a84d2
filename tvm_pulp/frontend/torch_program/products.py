"""Matrix products, those of dequantized integers as ONNX's quantizers write them, and attention."""

import math
from typing import Any

import numpy as np

from tvm_pulp.errors import refuse_if
from tvm_pulp.frontend.onnx_graph_builder import Dequantized, GraphBuilder, GraphValue, onnx_type
from tvm_pulp.frontend.torch_program.elementwise import Operators


def linear(g: GraphBuilder, x: GraphValue, weight: GraphValue, bias: GraphValue | None = None) -> str:
    """x W^T + b: Gemm of matrices, else a product with the transposed weight."""
    dynamic = _dynamic_product(g, x, weight)
    if dynamic is not None:
        return dynamic if bias is None else g.emit("Add", dynamic, bias)
    if x.rank == 2 and bias is not None:
        return g.emit("Gemm", x, weight, bias, transB=1)
    product = g.emit("MatMul", x, transposed(g, weight, (1, 0)))
    return product if bias is None else g.emit("Add", product, bias)


def transposed(g: GraphBuilder, x: GraphValue, order: tuple[int, ...]) -> str:
    """A tensor with its axes in another order; constants, also quantized ones, are turned here and now."""
    held, quantized = g.array(x), g.dequantized.get(x.name)
    if held is not None:
        return g.constant(held.transpose(order))
    if quantized is None or quantized.integers not in g.constants:
        return g.permuted(x, *order)
    axis = None if quantized.axis is None else order.index(quantized.axis)
    integers = g.constant(g.constants[quantized.integers].transpose(order))
    return g.dequantize(Dequantized(integers, quantized.scale, quantized.zero_point, axis))


def _dynamic_product(g: GraphBuilder, x: GraphValue, weight: GraphValue) -> str | None:
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


def addmm(g: GraphBuilder, bias: GraphValue, x: GraphValue, y: GraphValue, beta: float, alpha: float) -> str:
    if bias.rank <= 2 and x.rank == 2:
        return g.emit("Gemm", x, y, bias, alpha=float(alpha), beta=float(beta))
    product = g.emit("MatMul", x, y)
    product = product if alpha == 1 else g.emit("Mul", product, np.float32(alpha))
    added: Any = bias if beta == 1 else g.emit("Mul", bias, np.float32(beta))
    return g.emit("Add", product, added)


def attention(
    g: GraphBuilder,
    query: GraphValue,
    key: GraphValue,
    value: GraphValue,
    mask: GraphValue | None = None,
    dropout: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> str:
    refuse_if(dropout, "attention is exported with a dropout: call module.eval() before torch.export.export")
    repeats = query.shape[-3] // key.shape[-3] if enable_gqa and query.rank > 3 else 1
    keys, values = (_repeated(g, v, repeats) for v in (key, value))
    order = [*range(key.rank - 2), key.rank - 1, key.rank - 2]
    scores = g.emit("MatMul", query, g.permuted(keys, *order))
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = g.emit("Mul", scores, np.float32(factor))
    if is_causal:
        allowed = np.tril(np.ones((query.shape[-2], key.shape[-2]), bool))
        scores = g.emit("Add", scores, np.where(allowed, np.float32(0), np.float32(-np.inf)))
    if mask is not None:
        scores = g.emit("Add", scores, _added(g, mask))
    return g.emit("MatMul", g.emit("Softmax", scores, axis=-1), values)


def _added(g: GraphBuilder, mask: GraphValue) -> Any:
    """The addend of the scores that a mask stands for: of booleans, minus infinity where one is false."""
    if mask.dtype != "bool":
        return mask
    held = g.array(mask)
    if held is not None:
        return np.where(held, np.float32(0), np.float32(-np.inf))
    return g.emit("Where", mask, np.float32(0), np.float32(-np.inf))


def _repeated(g: GraphBuilder, x: GraphValue, times: int) -> Any:
    """Every head several times in a row, for queries that share it."""
    if times == 1:
        return x
    *outer, heads, length, width = x.shape
    lone = g.reshape(x, [*outer, heads, 1, length, width])
    wide = g.emit("Expand", lone, g.integers(*outer, heads, times, length, width))
    return g.reshape(wide, [*outer, heads * times, length, width])


OPERATORS: Operators = {
    "aten.linear": linear,
    **{f"aten.{name}": lambda g, x, y: g.emit("MatMul", x, y) for name in ("matmul", "mm", "bmm", "mv", "dot")},
    "aten.addmm": addmm,
    "aten.baddbmm": addmm,
    "aten.outer": lambda g, x, y: g.emit("Mul", g.reshape(x, [-1, 1]), g.reshape(y, [1, -1])),
    "aten.scaled_dot_product_attention": attention,
}
