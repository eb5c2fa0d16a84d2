"""Attention as exporters write it: scaled_dot_product_attention of both, and attention written out by hand."""

import numpy as np
from onnx import TensorProto

from tests.real_models.exported_graph import ExportedGraph

# What a network that is meant to be quantized adds to a masked score: exp(-24) is nothing, and the scale survives.
MASKED = -24.0


def heads_of(g: ExportedGraph, x: str, tokens: int, heads: int, each: int) -> str:
    """[1, tokens, heads · each] as [1, heads, tokens, each]."""
    return g.transpose(g.reshape(x, 1, tokens, heads, each), 0, 2, 1, 3)


def joined(g: ExportedGraph, x: str, tokens: int, width: int) -> str:
    """The reverse."""
    return g.reshape(g.transpose(x, 0, 2, 1, 3), 1, tokens, width)


def causal_mask(tokens: int, value: float) -> np.ndarray:
    return np.triu(np.full((tokens, tokens), value, np.float32), 1)


def sdpa(g: ExportedGraph, q: str, k: str, v: str, shape: tuple[int, int, int, int], causal: bool = False) -> str:
    """F.scaled_dot_product_attention of (heads, queries, keys, width of a head)."""
    scores = (_legacy_scores if g.legacy else _dynamo_scores)(g, q, k, shape)
    if causal and g.legacy:
        raise ValueError("the legacy exporter masks with -inf, which no quantizer has a scale for")
    if causal:
        # Constants that the newer exporter has folded: the lowest float above the diagonal.
        mask = g.parameter(causal_mask(shape[1], float(np.finfo(np.float32).min)))
        scores = g.node("Add", scores, mask)
    return str(g.node("MatMul", g.node("Softmax", scores, axis=-1), v))


def _legacy_scores(g: ExportedGraph, q: str, k: str, shape: tuple[int, int, int, int]) -> str:
    """The scale is computed from the shape of the queries, and its root multiplied to both sides."""
    last = g.node("Slice", g.node("Shape", q), g.integers(-1), g.integers(np.iinfo(np.int64).max))
    root = g.node("Sqrt", g.node("Cast", last, to=TensorProto.FLOAT))
    scale = g.node("Cast", g.node("Div", g.constant([1.0]), root), to=TensorProto.FLOAT)
    turned = g.transpose(k, 0, 1, 3, 2)
    left = g.node("Mul", q, g.node("Sqrt", scale))
    right = g.node("Mul", turned, g.node("Sqrt", scale))
    return str(g.node("MatMul", left, right))


def _dynamo_scores(g: ExportedGraph, q: str, k: str, shape: tuple[int, int, int, int]) -> str:
    """The keys are transposed as three dimensions; the scale's root is a constant."""
    heads, _, keys, each = shape
    turned = g.node("Reshape", k, g.integers(-1, keys, each), allowzero=0)
    turned = g.node("Reshape", g.transpose(turned, 0, 2, 1), g.integers(1, heads, each, keys), allowzero=0)
    root = g.constant([each**-0.25])
    return str(g.node("MatMul", g.node("Mul", q, root), g.node("Mul", turned, root)))


def written_out(g: ExportedGraph, q: str, k: str, v: str, each: int, mask: str = "", mask_form: str = "add") -> str:
    """softmax(q @ k.transpose(-2, -1) / sqrt(each) + mask) @ v, or with masked_fill instead of the sum."""
    scores = g.node("MatMul", q, g.transpose(k, 0, 1, 3, 2))
    scores = g.node("Div", scores, g.constant(np.sqrt(each)))
    if mask and mask_form == "add":
        scores = g.node("Add", scores, mask)
    elif mask:
        scores = g.node("Where", mask, g.constant(MASKED), scores)
    return str(g.node("MatMul", g.node("Softmax", scores, axis=-1), v))
