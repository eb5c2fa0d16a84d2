"""The smallest network worth a study: vectors times a matrix."""

from typing import Any

import numpy as np

from tvm_pulp.frontend.zoo.onnx_graph import OnnxGraph, number


def product_model(rows: int, width: int = 128) -> Any:
    """An int8 product of `rows` vectors with a square matrix, in the PULP dialect: input `x`, output `y`."""
    rng = np.random.default_rng(width)
    graph = OnnxGraph(f"product{rows}x{width}")
    graph.declare_input("x", "int8", (rows, width))
    graph.declare_output("y", "int8", (rows, width))
    weight = graph.constant("weight", rng.integers(-100, 100, (width, width)))
    bias = graph.constant("bias", rng.integers(-1000, 1000, width))
    graph.node("Gemm", ["x", weight, bias], "acc", alpha=1.0, beta=1.0, transB=1)
    mul, add = graph.constant("mul", np.full(1, 3)), graph.constant("add", np.zeros(1, np.int64))
    levels = {"n_levels_out": number(256, 1), "signed": number(1, 1), "div": number(1 << 10)}
    graph.node("RequantShift", ["acc", mul, add], "y", private=True, **levels)
    return graph.model()
