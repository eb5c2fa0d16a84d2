"""A small network that runs every mode of the array, with sizes that no subtile divides."""

from typing import Any

import numpy as np

from tests.codegen.small_networks import requantize
from tvm_pulp.frontend.zoo.onnx_graph import OnnxGraph


def all_modes_network() -> Any:
    """3x3, depthwise, 1x1 and 5x5 (by im2col), then a classifier; 13 x 11 pixels."""
    rng = np.random.default_rng(5)
    graph = OnnxGraph("all_modes")
    graph.declare_input("image", "uint8", (1, 30, 13, 11))
    graph.declare_output("classes", "int8", (1, 37))

    def conv(source: str, name: str, filters: tuple[int, int, int], groups: int = 1) -> str:
        outputs, inputs, kernel = filters
        weight = graph.constant(f"{name}_weight", rng.integers(-100, 100, (outputs, inputs, kernel, kernel)))
        graph.node(
            "Conv",
            [source, weight],
            f"{name}_acc",
            kernel_shape=[kernel, kernel],
            strides=[1, 1],
            pads=[kernel // 2] * 4,
            group=groups,
            dilations=[1, 1],
        )
        return requantize(graph, f"{name}_acc", name, rng.integers(1, 20, (outputs, 1, 1)), 12, signed=False)

    x = conv("image", "dense3x3", (41, 30, 3))
    x = conv(x, "depthwise", (41, 1, 3), groups=41)
    x = conv(x, "pointwise", (50, 41, 1))
    x = conv(x, "wide", (33, 50, 5))
    graph.node("ReduceMean", [x], "mean", axes=[2, 3], keepdims=0)
    weight = graph.constant("dense_weight", rng.integers(-100, 100, (37, 33)))
    bias = graph.constant("dense_bias", rng.integers(-1000, 1000, 37))
    graph.node("Gemm", ["mean", weight, bias], "dense_acc", alpha=1.0, beta=1.0, transB=1)
    requantize(graph, "dense_acc", "classes", np.full((1,), 3), 10, signed=True)
    return graph.model()
