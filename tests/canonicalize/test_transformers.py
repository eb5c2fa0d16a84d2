"""Whole transformers become integers with one operator for every island, and agree with onnxruntime."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.canonicalize.island_check import differences, operators
from tests.canonicalize.transformer_graphs import Graph, gpt, gpt_token, llama, vit

NETWORKS: dict[str, tuple[Any, dict[str, Any]]] = {
    "vit": (vit, {}),
    "vit, unsigned": (lambda: vit(attention="sdpa"), {"activations": "QUInt8"}),
    "vit, per channel": (lambda: vit("decomposed", "tanh", "multiply"), {"per_channel": True}),
    "gpt": (lambda: gpt(mask="where"), {}),
    "gpt with a cache": (gpt_token, {}),
    "llama": (lambda: llama("divide", tokens=7), {}),
    "llama with a cache": (lambda: llama("product", tokens=1, cached=9), {}),
}
FLOAT = {"relax.power", "relax.mean", "relax.sqrt", "relax.divide", "relax.erf", "relax.tanh", "relax.sigmoid"}
SEPARATE = {"softmax", "matmul", "slice", "relax.broadcast_to", "relax.matmul", "relax.add", "relax.multiply"}


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", NETWORKS)
def test_islands_are_integers(name: str, tmp_path: Path) -> None:
    build, options = NETWORKS[name]
    graph: Graph = build()
    module, difference = differences(graph, tmp_path, **options)
    found = operators(module)
    assert not FLOAT & set(found), found
    assert not SEPARATE & set(found), found
    assert found.count("qdq_attention") == 2
    assert (np.abs(difference) <= 2).mean() >= 0.99
