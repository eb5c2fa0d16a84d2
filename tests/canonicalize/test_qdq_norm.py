"""Normalizations in every exporter's form become one operator that agrees with onnxruntime."""

from pathlib import Path

import pytest

from tests.canonicalize.island_check import assert_agrees, differences, operators
from tests.canonicalize.transformer_graphs import Graph


def _quantized(graph: Graph, width: int) -> str:
    """Rows that a quantizer quantizes whoever reads them."""
    factors = graph.constant(graph.rng.uniform(0.5, 2, width))
    return str(graph.node("Mul", graph.input("x", 2, 9, width), factors))


@pytest.mark.parametrize("width", [64, 37])
@pytest.mark.parametrize("form", ["operator", "decomposed"])
def test_layer_norm(tmp_path: Path, form: str, width: int) -> None:
    graph = Graph(width)
    graph.outputs.append(graph.layer_norm(_quantized(graph, width), width, form))
    module, difference = differences(graph, tmp_path)
    assert operators(module) == ["relax.quantize", "qdq_mul", "qdq_norm", "relax.dequantize"]
    assert_agrees(difference)


@pytest.mark.parametrize("width", [64, 37])
@pytest.mark.parametrize("form", ["reciprocal", "quotient", "divide", "product"])
def test_rms_norm(tmp_path: Path, form: str, width: int) -> None:
    graph = Graph(width)
    graph.outputs.append(graph.rms_norm(_quantized(graph, width), width, form))
    module, difference = differences(graph, tmp_path)
    assert "relax.power" not in operators(module) and "relax.multiply" not in operators(module)
    if form != "product":  # there the squares are quantized: they are a table
        assert operators(module) == ["relax.quantize", "qdq_mul", "qdq_norm", "relax.dequantize"]
    assert_agrees(difference)


@pytest.mark.parametrize(("form", "opset"), [("microsoft", 17), ("operator", 23)])
def test_rms_norm_as_an_operator(tmp_path: Path, form: str, opset: int) -> None:
    """Quantizers do not know these operators: what reads them is quantized."""
    graph, width = Graph(opset, opset), 40
    normal = graph.rms_norm(_quantized(graph, width), width, form)
    graph.stated[normal] = (2, 9, width)
    graph.outputs.append(graph.linear(normal, width, 24))
    module, difference = differences(graph, tmp_path)
    assert operators(module).count("qdq_norm") == 1
    assert not any(name.startswith("relax.nn") or name == "relax.mean" for name in operators(module))
    assert_agrees(difference)
