"""Transformers and their like on tokens and patches, their sizes drawn from a seed."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import TensorProto

from tests.hub.feature_map import FeatureMap, picture
from tests.real_models.attention import MASKED, causal_mask, heads_of, joined, written_out
from tests.real_models.exported_graph import ExportedGraph
from tests.real_models.gpt import tanh_gelu

Draw = np.random.Generator


@dataclass(frozen=True)
class Shape:
    """Of a transformer: tokens, width, query heads, heads of keys and values, hidden width."""

    tokens: int
    width: int
    heads: int
    shared: int
    hidden: int

    @property
    def each(self) -> int:
        return self.width // self.heads


def _drawn(draw: Draw, grouped: bool = False) -> Shape:
    tokens, heads, each = (int(draw.choice(c)) for c in ([12, 16, 24], [2, 4], [16, 24, 32]))
    shared = heads // 2 if grouped and draw.integers(0, 2) else heads
    return Shape(tokens, heads * each, heads, shared, heads * each * int(draw.choice([2, 4])))


def _embedded(g: ExportedGraph, s: Shape, vocabulary: int = 96, learned: bool = True) -> str:
    ids = g.input("input_ids", [1, s.tokens], TensorProto.INT64)
    x = g.node("Gather", g.parameter(g.normal(vocabulary, s.width), "tokens"), ids, axis=0)
    return str(g.node("Add", x, g.parameter(g.normal(s.tokens, s.width, scale=0.5), "positions")) if learned else x)


def _mask(g: ExportedGraph, tokens: int) -> str:
    return g.parameter(causal_mask(tokens, MASKED).reshape(1, 1, tokens, tokens), "mask")


def _attention(g: ExportedGraph, x: str, s: Shape, mask: str = "") -> str:
    q, k, v = (heads_of(g, g.linear(x, s.width, s.width), s.tokens, s.heads, s.each) for _ in range(3))
    return g.linear(joined(g, written_out(g, q, k, v, s.each, mask), s.tokens, s.width), s.width, s.width)


def bert(g: ExportedGraph, draw: Draw) -> Any:
    """Norms behind the sums, GELU with erf, the first token's class."""
    s = _drawn(draw)
    x = g.layer_norm(_embedded(g, s), s.width)
    for _ in range(2):
        x = g.layer_norm(g.node("Add", x, _attention(g, x, s)), s.width)
        hidden = FeatureMap(g, g.linear(x, s.width, s.hidden), s.hidden, ()).activated("GELU").value
        x = g.layer_norm(g.node("Add", x, g.linear(hidden, s.hidden, s.width)), s.width)
    first = g.node("Gather", x, g.constant(0, np.int64), axis=1)
    g.output(g.gemm(g.node("Tanh", g.gemm(first, s.width, s.width)), s.width, 4), [1, 4])
    return g.model()


def gpt2(g: ExportedGraph, draw: Draw) -> Any:
    """Norms before, tanh GELU, causal; logits of all tokens."""
    s = _drawn(draw)
    x, mask = _embedded(g, s), _mask(g, s.tokens)
    for _ in range(2):
        x = g.node("Add", x, _attention(g, g.layer_norm(x, s.width), s, mask))
        hidden = tanh_gelu(g, g.linear(g.layer_norm(x, s.width), s.width, s.hidden))
        x = g.node("Add", x, g.linear(hidden, s.hidden, s.width))
    g.output(g.linear(g.layer_norm(x, s.width), s.width, 96, bias=False), [1, s.tokens, 96])
    return g.model()


def _mean(g: ExportedGraph, x: str, axis: int, keeps: bool) -> str:
    if g.legacy:
        return str(g.node("ReduceMean", x, axes=[axis], keepdims=int(keeps)))
    return str(g.node("ReduceMean", x, g.integers(axis), keepdims=int(keeps), noop_with_empty_axes=0))


def _rms_norm(g: ExportedGraph, x: str, width: int) -> str:
    mean = _mean(g, g.node("Pow", x, g.constant(2.0)), -1, True)
    root = g.node("Sqrt", g.node("Add", mean, g.constant(1e-6)))
    weight = g.parameter(g.normal(width, scale=0.2, centre=1.0))
    return str(g.node("Mul", weight, g.node("Mul", x, g.node("Div", g.constant(1.0), root))))


def _rotated(g: ExportedGraph, x: str, s: Shape) -> str:
    """x * cos + rotate_half(x) * sin of the first positions."""
    angles = np.arange(s.tokens)[:, None] * (10000.0 ** (-np.arange(0, s.each, 2) / s.each))[None]
    both = np.concatenate([angles, angles], -1)[None, None].astype(np.float32)
    low, high = g.slice(x, 3, 0, s.each // 2), g.slice(x, 3, s.each // 2)
    turned = g.node("Mul", g.node("Concat", g.node("Neg", high), low, axis=-1), g.parameter(np.sin(both)))
    return str(g.node("Add", g.node("Mul", x, g.parameter(np.cos(both))), turned))


def _shared(g: ExportedGraph, x: str, s: Shape) -> str:
    """Each head of keys or values serves a group of queries."""
    if s.shared == s.heads:
        return x
    groups = s.heads // s.shared
    wide = g.node("Expand", g.node("Unsqueeze", x, g.integers(2)), g.integers(1, s.shared, groups, s.tokens, s.each))
    return g.reshape(wide, 1, s.heads, s.tokens, s.each)


def llama(g: ExportedGraph, draw: Draw) -> Any:
    """RMS norms, rotary positions, shared heads, SwiGLU; logits of all tokens."""
    s = _drawn(draw, grouped=True)
    x, mask = _embedded(g, s, learned=False), _mask(g, s.tokens)
    for _ in range(2):
        normal = _rms_norm(g, x, s.width)
        q = _rotated(g, heads_of(g, g.linear(normal, s.width, s.width, False), s.tokens, s.heads, s.each), s)
        k, v = (
            heads_of(g, g.linear(normal, s.width, s.shared * s.each, False), s.tokens, s.shared, s.each)
            for _ in range(2)
        )
        mixed = written_out(g, q, _shared(g, _rotated(g, k, s), s), _shared(g, v, s), s.each, mask)
        x = g.node("Add", x, g.linear(joined(g, mixed, s.tokens, s.width), s.width, s.width, False))
        normal = _rms_norm(g, x, s.width)
        gate = g.linear(normal, s.width, s.hidden, False)
        gate = g.node("Mul", gate, g.node("Sigmoid", gate))
        wide = g.node("Mul", gate, g.linear(normal, s.width, s.hidden, False))
        x = g.node("Add", x, g.linear(wide, s.hidden, s.width, False))
    g.output(g.linear(_rms_norm(g, x, s.width), s.width, 96, False), [1, s.tokens, 96])
    return g.model()


def _patches(g: ExportedGraph, width: int, size: int, patch: int) -> tuple[str, int]:
    """[1, patches, width] and the number of patches."""
    x = picture(g, 3, size, size).conv(width, patch, "", stride=patch, pads=[0, 0])
    tokens = x.size[0] * x.size[1]
    return g.transpose(g.reshape(x.value, 1, width, tokens), 0, 2, 1), tokens


def _mean_classified(g: ExportedGraph, x: str, width: int) -> Any:
    mean = _mean(g, g.layer_norm(x, width), 1, False)
    g.output(g.gemm(mean, width, 10), [1, 10])
    return g.model()


def vit(g: ExportedGraph, draw: Draw) -> Any:
    drawn = _drawn(draw)
    x, tokens = _patches(g, drawn.width, 32, int(draw.choice([4, 8])))
    s = Shape(tokens, drawn.width, drawn.heads, drawn.heads, drawn.hidden)
    x = str(g.node("Add", x, g.parameter(g.normal(1, tokens, s.width, scale=0.5))))
    for _ in range(2):
        x = g.node("Add", x, _attention(g, g.layer_norm(x, s.width, 1e-6), s))
        hidden = g.linear(g.layer_norm(x, s.width, 1e-6), s.width, s.hidden)
        hidden = FeatureMap(g, hidden, s.hidden, ()).activated("GELU").value
        x = g.node("Add", x, g.linear(hidden, s.hidden, s.width))
    return _mean_classified(g, x, s.width)


def mixer(g: ExportedGraph, draw: Draw) -> Any:
    """Matrices along tokens, then along channels."""
    width = int(draw.choice([32, 64]))
    x, tokens = _patches(g, width, 32, 4)
    for _ in range(2):
        turned = g.transpose(g.layer_norm(x, width), 0, 2, 1)
        hidden = FeatureMap(g, g.linear(turned, tokens, 2 * tokens), 0, ()).activated("GELU").value
        x = g.node("Add", x, g.transpose(g.linear(hidden, 2 * tokens, tokens), 0, 2, 1))
        hidden = FeatureMap(g, g.linear(g.layer_norm(x, width), width, 2 * width), 0, ()).activated("GELU").value
        x = g.node("Add", x, g.linear(hidden, 2 * width, width))
    return _mean_classified(g, x, width)


def poolformer(g: ExportedGraph, draw: Draw) -> Any:
    """Means of neighbours in place of attention."""
    width = int(draw.choice([32, 48]))
    x = picture(g, 3, 48, 48).conv(width, 7, "", stride=4, pads=[3, 3])
    for _ in range(2):
        x = x.plus(x.pooled("AveragePool", kernel=3, stride=1, pad=1))
        x = x.plus(x.conv(4 * width, 1, "GELU").conv(width, 1, ""))
    return x.classified()
