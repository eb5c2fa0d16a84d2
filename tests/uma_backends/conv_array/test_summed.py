"""A convolution or product and the sum behind it as one region: found, and the numbers of onnxruntime."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import tvm_pulp
from tests.real_models.exported_graph import ExportedGraph

SIZE, CHANNELS = 9, 12


def convolution(g: ExportedGraph, x: str, kernel: int = 3) -> str:
    weight = g.parameter(g.normal(CHANNELS, CHANNELS, kernel, kernel))
    bias = g.parameter(g.normal(CHANNELS))
    return str(g.node("Conv", x, weight, bias, kernel_shape=[kernel, kernel], pads=[kernel // 2] * 4))


def block(relu: bool, turned: bool) -> ExportedGraph:
    """A residual around two convolutions; `turned`: the sum names the shortcut first."""
    g = ExportedGraph("block")
    x = str(g.node("Relu", convolution(g, g.input("input", [1, CHANNELS, SIZE, SIZE]), 1)))
    y = convolution(g, str(g.node("Relu", convolution(g, x))))
    y = str(g.node("Add", *((x, y) if turned else (y, x))))
    y = convolution(g, str(g.node("Relu", y)) if relu else y, 1)
    g.output(y, [1, CHANNELS, SIZE, SIZE])
    return g


def linear() -> ExportedGraph:
    g = ExportedGraph("linear")
    x = str(g.node("Tanh", g.input("input", [1, 40, CHANNELS])))
    y = str(g.node("MatMul", x, g.parameter(g.normal(CHANNELS, CHANNELS))))
    y = str(g.node("MatMul", str(g.node("Add", x, y)), g.parameter(g.normal(CHANNELS, 8))))
    g.output(y, [1, 40, 8])
    return g


def forms(g: ExportedGraph, shape: tuple[int, ...], folder: Path, seed: int, **options: Any) -> dict[str, str]:
    """Forms by operators of the layers; results of two inferences are onnxruntime's, without graph optimizations."""
    quantizers = pytest.importorskip("tests.real_models.quantizers")
    rng = np.random.default_rng(seed)
    samples = [{"input": rng.normal(size=shape).astype(np.float32)} for _ in range(3)]
    model = quantizers.int8(g.model(), samples)
    path = folder / "summed.onnx"
    onnx.save(model, path)
    settings = onnxruntime.SessionOptions()
    settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    (expected,) = onnxruntime.InferenceSession(model.SerializeToString(), settings).run(None, samples[0])
    result = tvm_pulp.compile(path, **options).run(samples[0])
    np.testing.assert_array_equal(next(iter(result.outputs.values())), expected)
    return {layer["op"]: layer["form"] for layer in result.report["layers"]}


def test_a_residual_is_added_while_results_are_rounded(tmp_path: Path) -> None:
    found = forms(block(True, False), (1, CHANNELS, SIZE, SIZE), tmp_path, 0, target="uma-neureka", planner="greedy")
    assert found["conv2d+add"].endswith("summed"), found


@pytest.mark.slow
@pytest.mark.parametrize("target", ["uma-neureka", "uma-ne16"])
@pytest.mark.parametrize("l1", [None, 24_000])
@pytest.mark.parametrize(("relu", "turned"), [(False, False), (False, True), (True, True)])
def test_convolutions(relu: bool, turned: bool, l1: int | None, target: str, tmp_path: Path) -> None:
    shape, limit = (1, CHANNELS, SIZE, SIZE), {} if l1 is None else {"l1": l1}
    for seed in range(3):
        found = forms(block(relu, turned), shape, tmp_path, seed, target=target, **limit)
        assert found["conv2d+add"].endswith("summed"), found


@pytest.mark.slow
@pytest.mark.parametrize("target", ["uma-neureka", "uma-ne16"])
def test_products(target: str, tmp_path: Path) -> None:
    for seed in range(3):
        found = forms(linear(), (1, 40, CHANNELS), tmp_path, seed, target=target)
        assert found["dense+add"].endswith("summed"), found
