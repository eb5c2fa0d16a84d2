"""Products of bytes that were made wider first become products of bytes."""

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from tvm_pulp.frontend.onnx_integer_products import with_integer_products

RANDOM = np.random.default_rng(4)


def model(weight: np.ndarray, narrow: int = TensorProto.INT8) -> Any:
    """Floats to bytes, wider, moved about, and a product."""
    held = {"w": weight, "flat": np.array([1, 6, 8]), "back": np.array([6, 8]), "zero": np.zeros(1, np.float32)}
    nodes = [
        helper.make_node("Cast", ["x"], ["narrow"], to=narrow),
        helper.make_node("Cast", ["narrow"], ["wide"], to=TensorProto.INT32),
        helper.make_node("Reshape", ["wide", "flat"], ["flattened"]),
        helper.make_node("Transpose", ["flattened"], ["turned"], perm=[1, 0, 2]),
        helper.make_node("Reshape", ["turned", "back"], ["matrix"]),
        helper.make_node("MatMul", ["matrix", "w"], ["product"], name="layer"),
        helper.make_node("Cast", ["product"], ["y"], to=TensorProto.FLOAT),
    ]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", (2, 3, 8)), ("y", (6, 5)))]
    constants = [numpy_helper.from_array(a, n) for n, a in held.items()]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


def test_the_same_sums() -> None:
    source = model(RANDOM.integers(-128, 128, (8, 5)).astype(np.int32))
    made = with_integer_products(source)
    assert [n.op_type for n in made.graph.node] == ["Cast", "Reshape", "Transpose", "Reshape", "MatMulInteger", "Cast"]
    assert made.graph.node[-2].name == "layer"
    x = RANDOM.integers(-128, 128, (2, 3, 8)).astype(np.float32)
    wanted, found = (ReferenceEvaluator(m).run(None, {"x": x})[0] for m in (source, made))
    assert np.array_equal(found, wanted)


@pytest.mark.parametrize("largest", [128, -129])
def test_weights_of_more_than_a_byte_stay(largest: int) -> None:
    source = model(np.full((8, 5), largest, np.int32))
    assert with_integer_products(source) is source


def test_values_of_more_than_a_byte_stay() -> None:
    source = model(np.ones((8, 5), np.int32), TensorProto.INT16)
    assert with_integer_products(source) is source
