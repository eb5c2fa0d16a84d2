"""Models that compile in a moment, and the studies that tests make of them."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx

from tests.codegen.small_networks import requantize
from tvm_pulp.dse import Model, Study, grid
from tvm_pulp.frontend.zoo.onnx_graph import OnnxGraph


def dense_model(width: int) -> Any:
    """One fully connected layer with a requantization."""
    rng = np.random.default_rng(width)
    graph = OnnxGraph(f"dense{width}")
    graph.declare_input("x", "int8", (1, width))
    graph.declare_output("y", "int8", (1, width))
    weight = graph.constant("weight", rng.integers(-100, 100, (width, width)))
    bias = graph.constant("bias", rng.integers(-1000, 1000, width))
    graph.node("Gemm", ["x", weight, bias], "acc", alpha=1.0, beta=1.0, transB=1)
    requantize(graph, "acc", "y", np.full((1,), 3), 10, signed=True)
    return graph.model()


def write_models(folder: Path, widths: tuple[int, ...] = (32, 64)) -> list[Model]:
    """Files of such models."""
    found = []
    for width in widths:
        path = folder / f"dense{width}.onnx"
        onnx.save(dense_model(width), path)
        found.append(Model(str(path), options={"input_types": {"x": "int8"}}))
    return found


def small_study(folder: Path, cache: Path, **changes: Any) -> Study:
    """Two models, four variants, two targets."""
    given: dict[str, Any] = {
        "models": write_models(folder),
        "socs": grid("siracusa", cores=[2, 8], neureka_columns=[4, 6]),
        "targets": ["c", "uma-neureka"],
    }
    return Study(**{**given, **changes}, cache=cache)


def mlp_model() -> Any:
    """Two layers on 48 rows beside a residual: something for cores, array, L1 and DMA each, compiled in a moment."""
    rng = np.random.default_rng(3)
    graph = OnnxGraph("mlp")
    graph.declare_input("x", "int8", (48, 64))
    graph.declare_output("y", "int8", (48, 64))
    source = "x"
    for name, inputs, outputs in (("hidden", 64, 128), ("branch", 128, 64)):
        weight = graph.constant(f"{name}_weight", rng.integers(-100, 100, (outputs, inputs)))
        bias = graph.constant(f"{name}_bias", rng.integers(-1000, 1000, outputs))
        graph.node("Gemm", [source, weight, bias], f"{name}_acc", alpha=1.0, beta=1.0, transB=1)
        source = requantize(graph, f"{name}_acc", name, np.full((1,), 3), 10, signed=True)
    graph.node("Add", ["x", source], "sum")
    requantize(graph, "sum", "y", np.ones((1,), np.int64), 1, signed=True)
    return graph.model()
