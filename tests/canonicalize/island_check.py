"""Graphs quantized by onnxruntime, in the dialect and beside onnxruntime."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx

from tests.canonicalize.transformer_graphs import Graph, quantize
from tests.frontend.quantized_onnx import canonical, dialect_run, onnxruntime_run


def operators(module: Any) -> list[str]:
    """Names of the operators of `main`, in order."""
    bindings = [b for block in module["main"].body.blocks for b in block.bindings]
    names = [b.value.op.name for b in bindings if hasattr(b.value, "op")]
    return [str(n).removeprefix("tvm_pulp.qnn.") for n in names]


def output_steps(model: Any) -> list[float]:
    """Scales of the outputs."""
    scales = {i.name: onnx.numpy_helper.to_array(i) for i in model.graph.initializer}
    made = {o: n for n in model.graph.node for o in n.output}
    return [float(scales[made[o.name].input[1]].max()) for o in model.graph.output]


def differences(graph: Graph, folder: Path, runs: int = 4, **options: Any) -> tuple[Any, np.ndarray]:
    """The module, and differences of all outputs to onnxruntime in steps of their quantizations."""
    model = quantize(graph, folder, **options)
    module, steps, found = canonical(model), output_steps(model), []
    for seed in range(runs):
        feeds = graph.feeds(seed)
        pairs = zip(dialect_run(module, feeds), onnxruntime_run(model, feeds), steps, strict=True)
        found += [np.rint((result - expected) / step).reshape(-1) for result, expected, step in pairs]
    return module, np.concatenate(found)


def assert_agrees(difference: np.ndarray, equal: float = 0.995) -> None:
    """At most one step apart, and nearly always equal."""
    assert np.abs(difference).max() <= 1
    assert (difference == 0).mean() >= equal
