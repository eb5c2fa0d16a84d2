"""Transformer blocks as onnxruntime quantizes them: recognised as attention, every product fit for the engine."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import tvm_pulp
from tests.canonicalize.transformer_graphs import quantize, vit
from tests.frontend.quantized_onnx import canonical, dialect_run
from tests.simulated.simulated_run import share_of_macs
from tvm_pulp import soc
from tvm_pulp.entry_point import prepare_module
from tvm_pulp.frontend.imported import Imported
from tvm_pulp.planning.lowering import build_network
from tvm_pulp.uma.conformance.layer_network import target_for
from uma_backends.ita import ItaBackend
from uma_backends.ita.dense import dense_strategy
from uma_backends.ita.matmul import matmul_strategy

STRATEGIES = {"dense": dense_strategy, "matmul": matmul_strategy}
NETWORKS: dict[str, tuple[Any, dict[str, Any]]] = {
    "signed": (vit, {}),
    "unsigned": (lambda: vit(attention="sdpa"), {"activations": "QUInt8"}),
    "per channel": (lambda: vit("decomposed", "tanh", "multiply"), {"per_channel": True}),
    "other widths": (lambda: vit(width=96, heads=3), {}),
}


SLOW = ("signed", "per channel")


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] if n in SLOW else []) for n in NETWORKS])
def test_every_product_fits(name: str, tmp_path: Path) -> None:
    build, options = NETWORKS[name]
    graph = build()
    module = canonical(quantize(graph, tmp_path, **options))
    backend = ItaBackend()
    context = backend.context({}, soc.load(backend.default_soc), 8)
    prepared = prepare_module(module, target_for(soc.load(backend.default_soc), backend))
    for result, expected in zip(*(dialect_run(m, graph.feeds(1)) for m in (prepared, module)), strict=True):
        np.testing.assert_array_equal(result, expected)
    names = tuple(p.name for p in prepared["main"].params)
    layers = build_network(prepared, Imported(prepared, names, ("y",), "qdq"), "network").layers
    products = [layer for layer in layers if layer.operator in STRATEGIES]
    # Two blocks: logits, softmax and values each, beside four projections, two layers of feed-forward, and the head.
    assert [layer.operator for layer in products].count("matmul") == 4
    assert [layer.operator for layer in layers].count("softmax") == 2 and len(products) == 17
    for layer in products:
        assert isinstance(STRATEGIES[layer.operator](layer, context), list)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["unsigned", "other widths"])
def test_blocks_run_on_the_engine(name: str, tmp_path: Path) -> None:
    """From the file to the simulated cluster: what the host computes, bit for bit."""
    build, options = NETWORKS[name]
    graph = build()
    onnx.save(quantize(graph, tmp_path, **options), tmp_path / "block.onnx")
    run = tvm_pulp.compile(tmp_path / "block.onnx", target="uma-ita").run(graph.feeds(5))
    host = tvm_pulp.compile(tmp_path / "block.onnx", target="c").run(graph.feeds(5))
    for result, expected in zip(run.outputs.values(), host.outputs.values(), strict=True):
        np.testing.assert_array_equal(result, expected)
    assert share_of_macs(run.report, "ita") >= 0.99
