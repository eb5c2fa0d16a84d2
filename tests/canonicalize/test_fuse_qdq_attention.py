"""Attention as exporters write it becomes one operator that agrees with onnxruntime."""

from pathlib import Path

import numpy as np
import pytest

from tests.canonicalize.island_check import assert_agrees, differences, operators
from tests.canonicalize.transformer_graphs import Graph, causal

ATTENTION_EQUAL = 0.98


def projected(graph: Graph, tokens: int, heads: int, size: int, count: int) -> list[str]:
    """Projections, split into heads."""
    width = heads * size
    x = graph.input("x", 1, tokens, width)
    return [graph.heads(graph.linear(x, width, width), tokens, heads, size) for _ in range(count)]


@pytest.mark.parametrize("mask", ["none", "add", "where"])
@pytest.mark.parametrize("form", ["divide", "multiply", "sdpa"])
def test_forms(tmp_path: Path, form: str, mask: str) -> None:
    graph, (tokens, heads, size) = Graph(3), (11, 3, 8)
    hidden = None if mask == "none" else causal(tokens, form=mask)
    q, k, v = projected(graph, tokens, heads, size, 3)
    graph.outputs.append(graph.attention(q, k, v, (heads, tokens, tokens, size), form, hidden))
    module, difference = differences(graph, tmp_path)
    found = operators(module)
    assert found.count("qdq_attention") == 1
    assert not {"matmul", "softmax", "transpose", "relax.where", "relax.divide"} & set(found)
    assert_agrees(difference, ATTENTION_EQUAL)


@pytest.mark.parametrize("layout", ["slices", "split"])
def test_one_projection_of_all_three(tmp_path: Path, layout: str) -> None:
    """q, k and v are parts of one tensor: no part is copied."""
    graph, (tokens, heads, size) = Graph(4), (9, 2, 12)
    width = heads * size
    x = graph.linear(graph.input("x", 1, tokens, width), width, 3 * width)
    if layout == "split":
        parts = graph.node("Split", x, graph.integers(width, width, width), outputs=3, axis=2)
    else:
        axis = graph.integers(2)
        parts = [
            graph.node("Slice", x, graph.integers(i * width), graph.integers((i + 1) * width), axis) for i in range(3)
        ]
    q, k, v = (graph.heads(part, tokens, heads, size) for part in parts)
    graph.outputs.append(graph.attention(q, k, v, (heads, tokens, tokens, size)))
    module, difference = differences(graph, tmp_path)
    assert "slice" not in operators(module) and operators(module).count("qdq_attention") == 1
    assert_agrees(difference, ATTENTION_EQUAL)


def test_shared_heads_of_keys_and_values(tmp_path: Path) -> None:
    graph, (tokens, heads, groups, size) = Graph(5), (7, 6, 2, 8)
    x = graph.input("x", 1, tokens, 24)
    q = graph.heads(graph.linear(x, 24, heads * size), tokens, heads, size)
    k, v = (graph.heads(graph.linear(x, 24, groups * size), tokens, groups, size) for _ in range(2))
    k, v = (graph.repeated(t, groups, heads // groups, tokens, size) for t in (k, v))
    graph.outputs.append(graph.attention(q, k, v, (heads, tokens, tokens, size), "multiply", causal(tokens)))
    module, difference = differences(graph, tmp_path)
    assert "relax.broadcast_to" not in operators(module) and operators(module).count("qdq_attention") == 1
    assert_agrees(difference, ATTENTION_EQUAL)


def test_three_axes(tmp_path: Path) -> None:
    """nn.MultiheadAttention puts heads first and drops the batch."""
    graph, (tokens, heads, size) = Graph(6), (10, 4, 4)
    width = heads * size
    x = graph.input("x", tokens, 1, width)
    parts = [
        graph.node("Reshape", graph.linear(x, width, width), graph.integers(tokens, heads, size)) for _ in range(3)
    ]
    q, v = (graph.node("Transpose", parts[i], perm=[1, 0, 2]) for i in (0, 2))
    scores = graph.node("MatMul", q, graph.node("Transpose", parts[1], perm=[1, 2, 0]))
    scores = graph.node("Mul", scores, graph.constant(0.5))
    mixed = graph.node("MatMul", graph.node("Softmax", scores, axis=-1), v)
    graph.outputs.append(graph.node("Reshape", graph.node("Transpose", mixed, perm=[1, 0, 2]), graph.integers(10, 16)))
    module, difference = differences(graph, tmp_path)
    assert operators(module).count("qdq_attention") == 1
    assert_agrees(difference, ATTENTION_EQUAL)


def test_many_mask_values_stay_apart(tmp_path: Path) -> None:
    """A bias for every place has more values than there are tables: right, in separate layers."""
    graph, (tokens, heads, size) = Graph(7), (6, 2, 4)
    q, k, v = projected(graph, tokens, heads, size, 3)
    bias = np.random.default_rng(1).normal(size=(1, heads, tokens, tokens)).astype(np.float32)
    graph.outputs.append(graph.attention(q, k, v, (heads, tokens, tokens, size), mask=bias))
    module, difference = differences(graph, tmp_path)
    assert "softmax" in operators(module)
    assert_agrees(difference, ATTENTION_EQUAL)


def test_another_reader_keeps_the_weights(tmp_path: Path) -> None:
    """Weights that are an output as well cannot disappear."""
    graph, (tokens, heads, size) = Graph(8), (6, 2, 4)
    q, k, v = projected(graph, tokens, heads, size, 3)
    scores = graph.node("MatMul", q, graph.node("Transpose", k, perm=[0, 1, 3, 2]))
    weights = graph.node("Softmax", scores, axis=-1)
    graph.outputs += [graph.node("MatMul", weights, v), weights]
    module, difference = differences(graph, tmp_path)
    assert "qdq_attention" not in operators(module)
    assert_agrees(difference, ATTENTION_EQUAL)
