"""A product and functions of its bytes as one region with tables: found, and the numbers of onnxruntime."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import tvm_pulp
from tests.real_models.exported_graph import ExportedGraph

ROWS, DEPTH, CHANNELS = 40, 12, 20


def added(g: ExportedGraph, y: str) -> str:
    return str(g.node("Add", g.parameter(g.normal(CHANNELS)), y))


def scaled(g: ExportedGraph, y: str) -> str:
    return str(g.node("Mul", y, g.parameter(g.normal(CHANNELS, centre=1))))


def curved(g: ExportedGraph, y: str) -> str:
    return str(g.node("Tanh", y))


CASES: dict[str, tuple[Callable[[ExportedGraph, str], str], ...]] = {
    "dense+add": (added,),
    "dense+add+qdq_mul": (added, scaled),
    "dense+add+lookup": (added, curved),
    "dense+qdq_mul": (scaled,),
    "dense+lookup": (curved,),
}


def quantized(functions: tuple[Callable[[ExportedGraph, str], str], ...]) -> tuple[Any, dict[str, np.ndarray]]:
    quantizers = pytest.importorskip("tests.real_models.quantizers")
    g = ExportedGraph("table")
    y = str(g.node("MatMul", g.input("input", [1, ROWS, DEPTH]), g.parameter(g.normal(DEPTH, CHANNELS))))
    for function in functions:
        y = function(g, y)
    # A second product, so that the first one's result is a byte.
    g.output(str(g.node("MatMul", y, g.parameter(g.normal(CHANNELS, 8)))), [1, ROWS, 8])
    samples = [{"input": g.normal(1, ROWS, DEPTH).astype(np.float32)} for _ in range(3)]
    return quantizers.int8(g.model(), samples), samples[0]


def check(name: str, folder: Path) -> str:
    """The form that the region took; its results are onnxruntime's, without graph optimizations."""
    model, feeds = quantized(CASES[name])
    path = folder / "table.onnx"
    onnx.save(model, path)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    (expected,) = onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, feeds)
    result = tvm_pulp.compile(path, target="uma-neureka", planner="greedy").run(feeds)
    np.testing.assert_array_equal(next(iter(result.outputs.values())), expected)
    found = [layer["form"] for layer in result.report["layers"] if layer["op"] == name]
    assert len(found) == 1, [layer["op"] for layer in result.report["layers"]]
    return str(found[0])


def test_a_sum_and_a_product_are_tables_of_channels(tmp_path: Path) -> None:
    assert check("dense+add+qdq_mul", tmp_path) == "1x1 over rows, by tables of channels"


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_onnxruntime(name: str, tmp_path: Path) -> None:
    # A sum by itself has a kernel without tables.
    others = {"dense+lookup": "1x1 over rows, by a table", "dense+add": "1x1 over rows, added"}
    assert check(name, tmp_path) == others.get(name, "1x1 over rows, by tables of channels")
