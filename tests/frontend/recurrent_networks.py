"""Keyword spotting by convolutions and a recurrent layer, from a seed."""

from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def keyword_spotting(
    op: str, *, frames: int, hidden: int, bins: int = 16, classes: int = 6, seed: int = 0, **attributes: Any
) -> Any:
    """Two convolutions along time, a recurrent node, a dense layer on its last state."""
    rng, constants, nodes = np.random.default_rng(seed), [], []
    directions = 2 if attributes.get("direction") == "bidirectional" else 1
    rows = GATES[op] * hidden

    def weights(*shape: int, gain: float = 1.0) -> str:
        values = gain * rng.normal(size=shape) / np.sqrt(np.prod(shape[1:]))
        constants.append(numpy_helper.from_array(values.astype(np.float32), f"c{len(constants)}"))
        return str(constants[-1].name)

    def node(kind: str, *operands: str, **more: Any) -> str:
        name = f"{kind.lower()}{len(nodes)}"
        nodes.append(helper.make_node(kind, operands, [name], name=name, **more))
        return name

    value = "x"
    for inputs, stride in ((bins, 1), (hidden, 2)):
        filters = weights(hidden, inputs, 3)
        value = node("Relu", node("Conv", value, filters, weights(hidden, gain=0.1), pads=[1, 1], strides=[stride]))
    operands = [node("Transpose", value, perm=[2, 0, 1]), weights(directions, rows, hidden, gain=1.4)]
    operands += [weights(directions, rows, hidden, gain=1.4), weights(directions, 2 * rows, gain=0.3)]
    nodes.append(helper.make_node(op, operands, ["", "last"], name="cell", hidden_size=hidden, **attributes))
    flat = node("Flatten", node("Transpose", "last", perm=[1, 0, 2]))
    nodes.append(
        helper.make_node("Gemm", [flat, weights(classes, directions * hidden)], ["y"], name="classes", transB=1)
    )
    ends = [
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)]
        for name, shape in (("x", [1, bins, frames]), ("y", [1, classes]))
    ]
    graph = helper.make_graph(nodes, "keywords", *ends, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def spoken(count: int, frames: int, bins: int = 16, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, bins, frames)).astype(np.float32)
