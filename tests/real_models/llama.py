"""Llama: 2 layers, width 64, 4 query heads on 2 of keys and values, SwiGLU 128, RMSNorm, rotary positions."""

from typing import Any

import numpy as np
from onnx import TensorProto, numpy_helper

from tests.real_models.attention import MASKED, causal_mask, heads_of, joined, written_out
from tests.real_models.exported_graph import ExportedGraph

LAYERS, WIDTH, HEADS, SHARED_HEADS, HIDDEN, VOCABULARY, CONTEXT = 2, 64, 4, 2, 128, 128, 16
EACH = WIDTH // HEADS


def rms_norm(g: ExportedGraph, x: str) -> str:
    """weight * (x * rsqrt(x.pow(2).mean(-1, keepdim=True) + epsilon))."""
    square = g.node("Pow", x, g.constant(2.0))
    if g.legacy:
        mean = g.node("ReduceMean", square, axes=[-1], keepdims=1)
    else:
        mean = g.node("ReduceMean", square, g.integers(-1), keepdims=1, noop_with_empty_axes=0)
    root = g.node("Sqrt", g.node("Add", mean, g.constant(1e-6)))
    inverse = g.node("Div", g.constant(1.0), root) if g.legacy else g.node("Reciprocal", root)
    weight = g.parameter(g.normal(WIDTH, scale=0.2, centre=1.0), "norm.weight")
    return str(g.node("Mul", weight, g.node("Mul", x, inverse)))


def _expanded(g: ExportedGraph, x: str, *shape: int) -> str:
    """x.expand(shape); the legacy exporter computes which sizes are -1."""
    if not g.legacy:
        return str(g.node("Expand", x, g.integers(*shape)))
    wanted = g.integers(*shape)
    ones = g.node("ConstantOfShape", g.integers(len(shape)), value=numpy_helper.from_array(np.ones(1, np.int64)))
    marks = g.node("Mul", ones, g.constant(-1, np.int64))
    return str(g.node("Expand", x, g.node("Where", g.node("Equal", wanted, marks), ones, wanted)))


def _angles(g: ExportedGraph, positions: str) -> tuple[str, str]:
    """Cosine and sine of the rotary embedding, from positions known at run time."""
    frequencies = g.parameter((10000.0 ** (-np.arange(0, EACH, 2) / EACH)).astype(np.float32).reshape(1, -1, 1))
    if g.legacy:
        frequencies = _expanded(g, frequencies, 1, -1, 1)
    turns = g.node("Cast", g.node("Unsqueeze", positions, g.integers(1)), to=TensorProto.FLOAT)
    angles = g.transpose(g.node("MatMul", frequencies, turns), 0, 2, 1)
    both = g.node("Concat", angles, angles, axis=-1)
    return tuple(g.node("Unsqueeze", g.node(op, both), g.integers(1)) for op in ("Cos", "Sin"))  # type: ignore


def _folded_angles(g: ExportedGraph, tokens: int) -> tuple[str, str]:
    """The same for the first positions, which exporters fold."""
    angles = np.arange(tokens)[:, None] * (10000.0 ** (-np.arange(0, EACH, 2) / EACH))[None]
    both = np.concatenate([angles, angles], -1)[None, None].astype(np.float32)
    return g.parameter(np.cos(both)), g.parameter(np.sin(both))


def rotated(g: ExportedGraph, x: str, cosine: str, sine: str) -> str:
    """x * cos + rotate_half(x) * sin."""
    straight = g.node("Mul", x, cosine)
    low, high = g.slice(x, 3, 0, EACH // 2), g.slice(x, 3, EACH // 2)
    turned = g.node("Concat", g.node("Neg", high), low, axis=-1)
    return str(g.node("Add", straight, g.node("Mul", turned, sine)))


def _repeated(g: ExportedGraph, x: str) -> str:
    """repeat_kv: each head of keys or values serves a group of queries."""
    groups = HEADS // SHARED_HEADS
    wide = _expanded(g, g.node("Unsqueeze", x, g.integers(2)), 1, SHARED_HEADS, groups, CONTEXT, EACH)
    return g.reshape(wide, 1, HEADS, CONTEXT, EACH)


def _layer(g: ExportedGraph, x: str, tokens: int, angles: tuple[str, str], past: list[str], mask: str) -> Any:
    """(next x, keys, values)"""
    normal = rms_norm(g, x)
    q = heads_of(g, g.linear(normal, WIDTH, WIDTH, bias=False), tokens, HEADS, EACH)
    k, v = (
        heads_of(g, g.linear(normal, WIDTH, SHARED_HEADS * EACH, bias=False), tokens, SHARED_HEADS, EACH)
        for _ in range(2)
    )
    q, k = rotated(g, q, *angles), rotated(g, k, *angles)
    if past:
        k, v = (g.node("Concat", old, new, axis=2) for old, new in zip(past, (k, v), strict=True))
    mixed = written_out(g, q, _repeated(g, k), _repeated(g, v), EACH, mask)
    x = g.node("Add", x, g.linear(joined(g, mixed, tokens, WIDTH), WIDTH, WIDTH, bias=False))
    normal = rms_norm(g, x)
    gate = g.linear(normal, WIDTH, HIDDEN, bias=False)
    gate = g.node("Mul", gate, g.node("Sigmoid", gate))
    wide = g.node("Mul", gate, g.linear(normal, WIDTH, HIDDEN, bias=False))
    return g.node("Add", x, g.linear(wide, HIDDEN, WIDTH, bias=False)), k, v


def _network(exporter: str, tokens: int) -> Any:
    g = ExportedGraph("llama", exporter)
    ids = g.input("input_ids", [1, tokens], TensorProto.INT64)
    cached = CONTEXT - tokens
    angles = None if cached else _folded_angles(g, tokens)
    if cached:
        positions = g.input("position_ids", [1, tokens], TensorProto.INT64)
    past = [
        [g.input(f"past_{kind}_{layer}", [1, SHARED_HEADS, cached, EACH]) for kind in ("key", "value")]
        for layer in range(LAYERS if cached else 0)
    ]
    x = g.node("Gather", g.parameter(g.normal(VOCABULARY, WIDTH), "tokens"), ids, axis=0)
    mask = ""
    if angles is None:
        angles = _angles(g, positions)
    else:
        mask = g.parameter(causal_mask(tokens, MASKED).reshape(1, 1, tokens, tokens), "mask")
    present = []
    for layer in range(LAYERS):
        x, k, v = _layer(g, x, tokens, angles, past[layer] if cached else [], mask)
        present += [k, v] if cached else []
    logits = g.linear(rms_norm(g, x), WIDTH, VOCABULARY, bias=False)
    g.output(logits, [1, tokens, VOCABULARY])
    for value in present:
        g.output(value, [1, SHARED_HEADS, CONTEXT, EACH])
    return g.model()


def llama_prefill(exporter: str) -> Any:
    return _network(exporter, CONTEXT)


def llama_token(exporter: str) -> Any:
    """One token; keys and values of the 15 before it come in and go out as floats."""
    return _network(exporter, 1)
