"""Rotary embedding as exporters write it becomes one operator that agrees with onnxruntime."""

from pathlib import Path

import pytest

from tests.canonicalize.island_check import assert_agrees, differences, operators
from tests.canonicalize.transformer_graphs import Graph

# Three quantizations in a row, each of which may be a tie.
EQUAL = 0.98


@pytest.mark.parametrize(("tokens", "heads", "size"), [(9, 3, 8), (1, 4, 16), (5, 1, 12)])
def test_becomes_one_operator(tmp_path: Path, tokens: int, heads: int, size: int) -> None:
    graph, width = Graph(tokens), heads * size
    x = graph.linear(graph.input("x", 1, tokens, width), width, width)
    graph.outputs.append(graph.rope(graph.heads(x, tokens, heads, size), 3, tokens, size))
    module, difference = differences(graph, tmp_path)
    found = operators(module)
    assert found.count("qdq_rope") == 1 and not {"slice", "concat", "qdq_mul", "mul"} & set(found)
    assert_agrees(difference, EQUAL)


def test_attention_reads_through_the_transpose(tmp_path: Path) -> None:
    """Heads and positions are never swapped in memory."""
    graph, (tokens, heads, size) = Graph(2), (6, 2, 8)
    width = heads * size
    x = graph.input("x", 1, tokens, width)
    q, k, v = (graph.heads(graph.linear(x, width, width), tokens, heads, size) for _ in range(3))
    q, k = (graph.rope(t, 0, tokens, size) for t in (q, k))
    graph.outputs.append(graph.attention(q, k, v, (heads, tokens, tokens, size)))
    module, difference = differences(graph, tmp_path)
    found = operators(module)
    assert found.count("qdq_rope") == 2 and "transpose" not in found
    assert_agrees(difference, EQUAL)


def test_only_half_a_row_is_turned(tmp_path: Path) -> None:
    """A partial rotation is another function: it stays apart and right."""
    graph, (tokens, heads, size) = Graph(3), (4, 2, 8)
    width = heads * size
    x = graph.heads(graph.linear(graph.input("x", 1, tokens, width), width, width), tokens, heads, size)
    axis = graph.integers(3)
    low = graph.node("Slice", x, graph.integers(0), graph.integers(4), axis)
    high = graph.node("Slice", x, graph.integers(4), graph.integers(8), axis)
    graph.outputs.append(graph.node("Concat", graph.rope(low, 0, tokens, 4), high, axis=-1))
    _, difference = differences(graph, tmp_path)
    assert_agrees(difference, EQUAL)
