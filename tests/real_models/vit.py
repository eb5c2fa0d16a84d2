"""A vision transformer: 2 layers, width 64, 4 heads, 16 patches and a class token."""

from typing import Any

import numpy as np
from onnx import numpy_helper

from tests.real_models.attention import joined, sdpa
from tests.real_models.exported_graph import ExportedGraph

LAYERS, WIDTH, HEADS, TOKENS, HIDDEN, PATCH = 2, 64, 4, 17, 128, 8


def _patches(g: ExportedGraph) -> str:
    """Convolution, flatten(2).transpose(1, 2); the legacy exporter asks for the shape at run time."""
    x = g.conv(g.input("input", [1, 3, 32, 32]), 3, WIDTH, PATCH, stride=PATCH, pads=[0, 0])
    if not g.legacy:
        return g.transpose(g.reshape(x, 1, WIDTH, TOKENS - 1), 0, 2, 1)
    kept = g.node("Slice", g.node("Shape", x), g.integers(0), g.integers(2), g.integers(0))
    shape = g.node("Concat", kept, g.integers(-1), axis=0)
    return g.transpose(g.node("Reshape", x, shape, allowzero=0), 0, 2, 1)


def _with_class_token(g: ExportedGraph, patches: str) -> str:
    token = g.parameter(g.normal(1, 1, WIDTH), "class_token")
    if g.legacy:
        # expand(batch, -1, -1): -1 is replaced by 1, which every size broadcasts to.
        wanted = g.integers(1, -1, -1)
        ones = g.node("ConstantOfShape", g.integers(3), value=numpy_helper.from_array(np.ones(1, np.int64)))
        marks = g.node("Mul", ones, g.constant(-1, np.int64))
        token = g.node("Expand", token, g.node("Where", g.node("Equal", wanted, marks), ones, wanted))
    return str(
        g.node("Add", g.node("Concat", token, patches, axis=1), g.parameter(g.normal(1, TOKENS, WIDTH, scale=0.5)))
    )


def _split_heads(g: ExportedGraph, qkv: str) -> list[str]:
    """reshape(1, tokens, 3, heads, each).permute(2, 0, 3, 1, 4).unbind(0)."""
    each = WIDTH // HEADS
    turned = g.transpose(g.reshape(qkv, 1, TOKENS, 3, HEADS, each), 2, 0, 3, 1, 4)
    if g.legacy:
        parts = g.node("Split", turned, g.integers(1, 1, 1), outputs=3, axis=0)
        return [g.node("Squeeze", part, g.integers(0)) for part in parts]
    cuts = [g.node("Slice", turned, g.integers(i), g.integers(i + 1), g.integers(0)) for i in range(3)]
    return [g.node("Squeeze", cut, g.integers(0)) for cut in cuts]


def erf_gelu(g: ExportedGraph, x: str) -> str:
    """F.gelu."""
    if not g.legacy:
        return str(g.node("Gelu", x, approximate="none"))
    erf = g.node("Erf", g.node("Div", x, g.constant(np.sqrt(2))))
    product = g.node("Mul", x, g.node("Add", erf, g.constant(1.0)))
    return str(g.node("Mul", product, g.constant(0.5)))


def vit(exporter: str) -> Any:
    g = ExportedGraph("vit", exporter)
    x = _with_class_token(g, _patches(g))
    for _ in range(LAYERS):
        q, k, v = _split_heads(g, g.linear(g.layer_norm(x, WIDTH, 1e-6), WIDTH, 3 * WIDTH))
        mixed = sdpa(g, q, k, v, (HEADS, TOKENS, TOKENS, WIDTH // HEADS))
        x = g.node("Add", x, g.linear(joined(g, mixed, TOKENS, WIDTH), WIDTH, WIDTH))
        hidden = erf_gelu(g, g.linear(g.layer_norm(x, WIDTH, 1e-6), WIDTH, HIDDEN))
        x = g.node("Add", x, g.linear(hidden, HIDDEN, WIDTH))
    first = g.node("Gather", g.layer_norm(x, WIDTH, 1e-6), g.constant(0, np.int64), axis=1)
    result = g.gemm(first, WIDTH, 10)
    g.output(result, [1, 10])
    return g.model()
