"""GPT: 2 layers, width 64, 4 heads; 16 tokens at once, or one token with 15 cached."""

from typing import Any

import numpy as np
from onnx import TensorProto

from tests.real_models.attention import MASKED, causal_mask, heads_of, joined, sdpa, written_out
from tests.real_models.exported_graph import ExportedGraph

LAYERS, WIDTH, HEADS, HIDDEN, VOCABULARY, CONTEXT = 2, 64, 4, 256, 128, 16


def tanh_gelu(g: ExportedGraph, x: str) -> str:
    """GELU as GPT-2 writes it, with the third power."""
    half = g.node("Mul", x, g.constant(0.5))
    cube = g.node("Mul", g.node("Pow", x, g.constant(3.0)), g.constant(0.044715))
    inner = g.node("Mul", g.node("Add", x, cube), g.constant(np.sqrt(2 / np.pi)))
    return str(g.node("Mul", half, g.node("Add", g.node("Tanh", inner), g.constant(1.0))))


def _split(g: ExportedGraph, qkv: str) -> list[str]:
    """qkv.split(width, dim=2)."""
    if g.legacy:
        return list(g.node("Split", qkv, g.integers(WIDTH, WIDTH, WIDTH), outputs=3, axis=2))
    return list(g.node("Split", qkv, outputs=3, axis=2, num_outputs=3))


def _feed_forward(g: ExportedGraph, x: str) -> str:
    hidden = tanh_gelu(g, g.linear(g.layer_norm(x, WIDTH), WIDTH, HIDDEN))
    return str(g.node("Add", x, g.linear(hidden, HIDDEN, WIDTH)))


def _finish(g: ExportedGraph, x: str, tokens: int) -> str:
    logits = g.linear(g.layer_norm(x, WIDTH), WIDTH, VOCABULARY, bias=False)
    g.output(logits, [1, tokens, VOCABULARY])
    return logits


def gpt_prefill(exporter: str, mask_form: str = "add") -> Any:
    """Legacy: attention written out, masked by a sum or by masked_fill; dynamo: scaled_dot_product_attention."""
    g = ExportedGraph("gpt", exporter)
    ids = g.input("input_ids", [1, CONTEXT], TensorProto.INT64)
    embedded = g.node("Gather", g.parameter(g.normal(VOCABULARY, WIDTH), "tokens"), ids, axis=0)
    x = g.node("Add", embedded, g.parameter(g.normal(CONTEXT, WIDTH, scale=0.5), "positions"))
    mask = ""
    if g.legacy:
        added = causal_mask(CONTEXT, MASKED)
        mask = g.parameter((added if mask_form == "add" else added != 0).reshape(1, 1, CONTEXT, CONTEXT), "mask")
    each = WIDTH // HEADS
    for _ in range(LAYERS):
        parts = _split(g, g.linear(g.layer_norm(x, WIDTH), WIDTH, 3 * WIDTH))
        q, k, v = (heads_of(g, part, CONTEXT, HEADS, each) for part in parts)
        if g.legacy:
            mixed = written_out(g, q, k, v, each, mask, mask_form)
        else:
            mixed = sdpa(g, q, k, v, (HEADS, CONTEXT, CONTEXT, each), causal=True)
        x = g.node("Add", x, g.linear(joined(g, mixed, CONTEXT, WIDTH), WIDTH, WIDTH))
        x = _feed_forward(g, x)
    _finish(g, x, CONTEXT)
    return g.model()


def gpt_prefill_masked_fill(exporter: str) -> Any:
    return gpt_prefill(exporter, "masked_fill")


def gpt_token(exporter: str) -> Any:
    """One token; keys and values of the 15 before it come in and go out as floats."""
    g = ExportedGraph("gpt", exporter)
    ids = g.input("input_ids", [1, 1], TensorProto.INT64)
    position = g.input("position", [1], TensorProto.INT64)
    each, cached = WIDTH // HEADS, CONTEXT - 1
    past = [
        [g.input(f"past_{kind}_{layer}", [1, HEADS, cached, each]) for kind in ("key", "value")]
        for layer in range(LAYERS)
    ]
    embedded = g.node("Gather", g.parameter(g.normal(VOCABULARY, WIDTH), "tokens"), ids, axis=0)
    positions = g.parameter(g.normal(CONTEXT, WIDTH, scale=0.5), "positions")
    x = g.node("Add", embedded, g.node("Gather", positions, position, axis=0))
    present = []
    for keys, values in past:
        parts = _split(g, g.linear(g.layer_norm(x, WIDTH), WIDTH, 3 * WIDTH))
        q, k, v = (heads_of(g, part, 1, HEADS, each) for part in parts)
        k, v = g.node("Concat", keys, k, axis=2), g.node("Concat", values, v, axis=2)
        present += [k, v]
        mixed = sdpa(g, q, k, v, (HEADS, 1, CONTEXT, each))
        x = g.node("Add", x, g.linear(joined(g, mixed, 1, WIDTH), WIDTH, WIDTH))
        x = _feed_forward(g, x)
    _finish(g, x, 1)
    for value in present:
        g.output(value, [1, HEADS, CONTEXT, each])
    return g.model()
