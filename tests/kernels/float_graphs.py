"""Small float networks that the costs of generated float layers are fitted on, and measured with."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper, shape_inference

UNARY = ("Exp", "Sqrt", "Sigmoid", "Tanh", "Erf", "Relu", "Abs", "HardSigmoid", "Neg")


def graph(nodes: Sequence[Any], x: Sequence[int], constants: dict[str, np.ndarray], opset: int = 17) -> Any:
    """A model of one float input `x` and one output `y`."""
    made = helper.make_graph(
        list(nodes),
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, list(x))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(v, k) for k, v in constants.items()],
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 9
    return shape_inference.infer_shapes(model)


def _weights(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return (rng.normal(size=shape) / np.sqrt(max(1, shape[-1]))).astype(np.float32)


def matmul(rng: np.random.Generator, rows: int, depth: int, columns: int) -> Any:
    weights = {"w": _weights(rng, depth, columns), "b": _weights(rng, columns)}
    nodes = [helper.make_node("MatMul", ["x", "w"], ["t"]), helper.make_node("Add", ["t", "b"], ["y"])]
    return graph(nodes, [rows, depth], weights)


def conv(rng: np.random.Generator, channels: int, filters: int, size: int, kernel: int, group: int = 1) -> Any:
    weights = {"w": _weights(rng, filters, channels // group, kernel, kernel), "b": _weights(rng, filters)}
    pads = [kernel // 2] * 4
    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["y"], pads=pads, group=group)]
    return graph(nodes, [1, channels, size, size], weights)


def rows(op: str, lead: int, length: int) -> Any:
    if op == "Softmax":
        return graph([helper.make_node(op, ["x"], ["y"], axis=-1)], [lead, length], {})
    if op == "LayerNormalization":
        ones = {"w": np.ones(length, np.float32), "b": np.zeros(length, np.float32)}
        return graph([helper.make_node(op, ["x", "w", "b"], ["y"], axis=-1)], [lead, length], ones)
    return graph([helper.make_node(op, ["x"], ["y"], axes=[1], keepdims=1)], [lead, length], {})


def unary(op: str, count: int) -> Any:
    inside = [helper.make_node("Abs", ["x"], ["t"])] if op == "Sqrt" else []
    return graph([*inside, helper.make_node(op, ["t" if inside else "x"], ["y"])], [1, count], {})


def binary(rng: np.random.Generator, op: str, lead: int, length: int) -> Any:
    constant = {"w": (np.abs(_weights(rng, length)) + 0.5).astype(np.float32)}
    return graph([helper.make_node(op, ["x", "w"], ["y"])], [lead, length], constant)


def pool(op: str, channels: int, size: int) -> Any:
    return graph(
        [helper.make_node(op, ["x"], ["y"], kernel_shape=[2, 2], strides=[2, 2])], [1, channels, size, size], {}
    )


def quantize(count: int, dtype: Any) -> Any:
    parameters = {"s": np.float32(0.05), "z": np.array(3, dtype)}
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"])]
    nodes.append(helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"]))
    return graph(nodes, [1, count], parameters, opset=19)


def networks() -> Iterator[Any]:
    """All of them, small and large."""
    rng = np.random.default_rng(1)
    for sizes in ((64, 64, 64), (16, 64, 48), (1, 128, 64), (7, 33, 19), (64, 8, 24), (1, 32, 128), (4, 200, 5)):
        yield matmul(rng, *sizes)
    for window in ((3, 16, 16, 3), (16, 16, 8, 1), (16, 32, 12, 3), (8, 5, 9, 5)):
        yield conv(rng, *window)
    for channels, size, kernel in ((16, 16, 3), (7, 13, 5)):
        yield conv(rng, channels, channels, size, kernel, channels)
    for op in ("Softmax", "LayerNormalization", "ReduceMean", "ReduceMax"):
        for lead, length in ((64, 64), (16, 200), (33, 17), (8, 1000)):
            yield rows(op, lead, length)
    for op in UNARY:
        for count in (600, 4096):
            yield unary(op, count)
    for op in ("Add", "Mul", "Div", "Max"):
        for lead, length in ((16, 64), (50, 100)):
            yield binary(rng, op, lead, length)
    for op in ("MaxPool", "AveragePool"):
        for channels, size in ((8, 16), (16, 24)):
            yield pool(op, channels, size)
    for count in (700, 3072):
        for dtype in (np.int8, np.uint8):
            yield quantize(count, dtype)
