"""Quantized transformers give the same integers on this machine, on the cores and with an engine, whole and cut."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import tvm_pulp
from tests.canonicalize.transformer_graphs import Graph, causal, llama, quantize

TARGETS: dict[str, dict[str, Any]] = {
    "cores": {"target": "c", "soc": "siracusa"},
    "accelerator": {"target": "uma-neureka"},
    "little memory": {"target": "c", "soc": "siracusa", "l1": 14_500},
}


def attention_alone() -> Graph:
    """More tokens than fit at a time; q, k and v are parts of one tensor."""
    graph, (tokens, heads, size) = Graph(1), (41, 3, 12)
    width = heads * size
    packed = graph.linear(graph.input("tokens", 1, tokens, width), width, 3 * width)
    parts = graph.node("Split", packed, graph.integers(width, width, width), outputs=3, axis=2)
    q, k, v = (graph.heads(part, tokens, heads, size) for part in parts)
    q, k = (graph.rope(t, 0, tokens, size) for t in (q, k))
    mixed = graph.attention(q, k, v, (heads, tokens, tokens, size), "sdpa", causal(tokens))
    graph.outputs.append(graph.layer_norm(mixed, width, "decomposed"))
    return graph


GRAPHS = {
    "attention": attention_alone,
    "prefill": lambda: llama(tokens=5),
    "token": lambda: llama("quotient", tokens=1, cached=6),
}


# Compiled and simulated within seconds.
QUICK = {("attention", "little memory"), ("token", "accelerator")}
CASES = [
    pytest.param(name, target, marks=[] if (name, target) in QUICK else [pytest.mark.slow])
    for name in GRAPHS
    for target in TARGETS
]


@pytest.mark.sample(1)
@pytest.mark.parametrize(("name", "target"), CASES)
def test_same_everywhere(name: str, target: str, tmp_path: Path) -> None:
    graph = GRAPHS[name]()
    path = tmp_path / f"{name}.onnx"
    onnx.save(quantize(graph, tmp_path), path)
    feeds = graph.feeds(7)
    expected = tvm_pulp.compile(path).run(feeds).outputs
    result = tvm_pulp.compile(path, **TARGETS[target]).run(feeds).outputs
    for output, truth in expected.items():
        np.testing.assert_array_equal(result[output], truth, err_msg=output)
