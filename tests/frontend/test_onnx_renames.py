"""Joins of one value are that value, whatever else was in them."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tvm_pulp.frontend.onnx_renames import plain_renames


@pytest.mark.parametrize(
    ("operands", "expected"),
    [
        (["x"], ("Identity", ["x"])),
        (["empty", "x"], ("Identity", ["x"])),
        (["x", "row"], ("Concat", ["x", "row"])),
        (["x", "x"], ("Concat", ["x", "x"])),
        (["empty", "empty"], ("Concat", ["empty", "empty"])),
    ],
)
def test_joins(operands: list[str], expected: tuple[str, list[str]]) -> None:
    constants = {"empty": np.zeros((0, 3), np.float32), "row": np.ones((1, 3), np.float32)}
    graph = helper.make_graph(
        [helper.make_node("Concat", operands, ["y"], axis=0)],
        "join",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    (node,) = plain_renames(helper.make_model(graph)).graph.node
    assert (node.op_type, list(node.input)) == expected
    assert list(node.output) == ["y"]
