"""Small models of the PULP dialect for tests of the emitted C."""

from typing import Any

import numpy as np

from tvm_pulp.frontend.zoo.onnx_graph import OnnxGraph, number


def requantize(graph: OnnxGraph, source: str, output: str, mul: np.ndarray, shift: int, signed: bool) -> str:
    """RequantShift with per-channel multipliers and no offset."""
    operands = [source, graph.constant(f"{output}_mul", mul), graph.constant(f"{output}_add", np.zeros_like(mul))]
    levels = {"n_levels_out": number(256, 1), "signed": number(int(signed), 1), "div": number(1 << shift)}
    return graph.node("RequantShift", operands, output, private=True, **levels)


def classifier(input_name: str = "image", output_name: str = "classes", inner_name: str = "hidden") -> Any:
    """Two convolutions of the same shape class with a residual sum, a pool, a mean and a classifier."""
    rng = np.random.default_rng(0)
    graph = OnnxGraph("classifier")
    graph.declare_input(input_name, "uint8", (1, 4, 6, 6))
    graph.declare_output(output_name, "int8", (1, 3))
    windows = {"kernel_shape": [3, 3], "strides": [1, 1], "pads": [1, 1, 1, 1], "group": 1, "dilations": [1, 1]}

    def conv(source: str, output: str) -> str:
        weight = graph.constant(f"{output}_weight", rng.integers(-8, 8, (4, 4, 3, 3)))
        graph.node("Conv", [source, weight], f"{output}_acc", **windows)
        return requantize(graph, f"{output}_acc", output, rng.integers(1, 20, (4, 1, 1)), 10, signed=False)

    first = conv(input_name, inner_name)
    second = conv(first, f"{inner_name}2")
    graph.node("Add", [first, second], "sum_acc")
    total = requantize(graph, "sum_acc", "total", np.ones((1,), np.int64), 1, signed=False)
    graph.node("MaxPool", [total], "pool", kernel_shape=[2, 2], strides=[2, 2])
    graph.node("ReduceMean", ["pool"], "mean", axes=[2, 3], keepdims=0)
    weight = graph.constant("dense_weight", rng.integers(-100, 100, (3, 4)))
    bias = graph.constant("dense_bias", rng.integers(-1000, 1000, 3))
    graph.node("Gemm", ["mean", weight, bias], "dense_acc", alpha=1.0, beta=1.0, transB=1)
    requantize(graph, "dense_acc", output_name, np.full((1,), 3), 8, signed=True)
    return graph.model()


def product() -> Any:
    """A product of 64 rows with 64 x 64 weights, a tile of an engine for attention."""
    rng = np.random.default_rng(0)
    graph = OnnxGraph("classifier")
    graph.declare_input("tokens", "int8", (64, 64))
    graph.declare_output("mixed", "int8", (64, 64))
    weight = graph.constant("mix_weight", rng.integers(-100, 100, (64, 64)))
    bias = graph.constant("mix_bias", rng.integers(-1000, 1000, 64))
    graph.node("Gemm", ["tokens", weight, bias], "mix_acc", alpha=1.0, beta=1.0, transB=1)
    requantize(graph, "mix_acc", "mixed", np.full((1,), 3), 12, signed=True)
    return graph.model()
