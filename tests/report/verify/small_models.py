"""A small network as onnxruntime quantizes it."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tests.real_models.quantizers import static


def float_classifier() -> Any:
    """Two convolutions with a sum of both, a pool and a classifier."""
    rng = np.random.default_rng(1)

    def constant(name: str, *shape: int) -> Any:
        values = rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]) if len(shape) > 1 else 4)
        return numpy_helper.from_array(values.astype(np.float32), name)

    nodes = [
        helper.make_node("Conv", ["image", "w1", "b1"], ["first"], pads=[1, 1, 1, 1], name="first_conv"),
        helper.make_node("Relu", ["first"], ["first_relu"], name="first_relu"),
        helper.make_node("Conv", ["first_relu", "w2", "b2"], ["second"], pads=[1, 1, 1, 1], name="second_conv"),
        helper.make_node("Add", ["first_relu", "second"], ["total"], name="sum"),
        helper.make_node("Relu", ["total"], ["total_relu"], name="total_relu"),
        helper.make_node("GlobalAveragePool", ["total_relu"], ["mean"], name="mean"),
        helper.make_node("Flatten", ["mean"], ["row"], name="row"),
        helper.make_node("Gemm", ["row", "w3", "b3"], ["classes"], transB=1, name="classes"),
    ]
    constants = [constant("w1", 16, 3, 3, 3), constant("b1", 16), constant("w2", 16, 16, 3, 3), constant("b2", 16)]
    constants += [constant("w3", 5, 16), constant("b3", 5)]
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, (1, 3, 8, 8))
    classes = helper.make_tensor_value_info("classes", TensorProto.FLOAT, (1, 5))
    graph = helper.make_graph(nodes, "classifier", [image], [classes], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def samples(count: int = 4) -> list[dict[str, np.ndarray]]:
    rng = np.random.default_rng(2)
    return [{"image": rng.standard_normal((1, 3, 8, 8)).astype(np.float32)} for _ in range(count)]


def quantized_classifier(path: Path) -> Path:
    """The same in QDQ form, written to a file."""
    onnx.save(static(float_classifier(), samples()), path)
    return path
