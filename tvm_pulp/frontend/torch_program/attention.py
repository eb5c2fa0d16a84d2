"""Scaled dot-product attention: scores, scale, mask, softmax, values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tvm_pulp.errors import refuse_if
from tvm_pulp.frontend.torch_program.elementwise import Operators
from tvm_pulp.frontend.torch_program.graph_builder import GraphBuilder, Value


def attention(
    g: GraphBuilder,
    query: Value,
    key: Value,
    value: Value,
    mask: Value | None = None,
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


def _added(g: GraphBuilder, mask: Value) -> Any:
    """The addend of the scores that a mask stands for: of booleans, minus infinity where one is false."""
    if mask.dtype != "bool":
        return mask
    held = g.array(mask)
    if held is not None:
        return np.where(held, np.float32(0), np.float32(-np.inf))
    return g.emit("Where", mask, np.float32(0), np.float32(-np.inf))


def _repeated(g: GraphBuilder, x: Value, times: int) -> Any:
    """Every head several times in a row, for queries that share it."""
    if times == 1:
        return x
    *outer, heads, length, width = x.shape
    lone = g.reshape(x, [*outer, heads, 1, length, width])
    wide = g.emit("Expand", lone, g.integers(*outer, heads, times, length, width))
    return g.reshape(wide, [*outer, heads * times, length, width])


OPERATORS: Operators = {"aten.scaled_dot_product_attention": attention}
