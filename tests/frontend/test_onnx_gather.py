"""Rows picked by indices that are known at run time only."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tvm_pulp

TABLE = np.arange(15, dtype=np.float32).reshape(5, 3)


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> tvm_pulp.App:
    indices = helper.make_tensor_value_info("indices", TensorProto.INT64, [4])
    rows = helper.make_tensor_value_info("rows", TensorProto.FLOAT, [4, 3])
    node = helper.make_node("Gather", ["table", "indices"], ["rows"])
    graph = helper.make_graph([node], "rows", [indices], [rows], [numpy_helper.from_array(TABLE, "table")])
    path: Path = tmp_path_factory.mktemp("gather") / "rows.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return tvm_pulp.compile(path)


@pytest.mark.parametrize(
    ("indices", "rows"),
    [
        ([0, 4, 2, 2], [0, 4, 2, 2]),
        # From the end.
        ([-1, -5, 1, 3], [4, 0, 1, 3]),
        # Outside of the table: the nearest row, and nothing behind the table.
        ([5, 1 << 40, -6, -(1 << 40)], [4, 4, 0, 0]),
    ],
)
def test_rows(app: tvm_pulp.App, indices: list[int], rows: list[int]) -> None:
    found = app.run({"indices": np.array(indices, np.int64)}).outputs["rows"]
    np.testing.assert_array_equal(found, TABLE[rows])


def test_numbers_of_rows_that_come_from_a_constant_of_64_bits(tmp_path: Path) -> None:
    """As encoders compute kinds of tokens: looked up by position in a constant, then counted on."""
    kinds = np.array([[0, 1, 1, 2, 0, 3]], np.int64)
    nodes = [
        helper.make_node("GatherElements", ["kinds", "positions"], ["found"], axis=1),
        helper.make_node("Add", ["found", "one"], ["next"]),
        helper.make_node("Gather", ["table", "next"], ["rows"]),
    ]
    positions = helper.make_tensor_value_info("positions", TensorProto.INT64, [1, 4])
    rows = helper.make_tensor_value_info("rows", TensorProto.FLOAT, [1, 4, 3])
    constants = {"kinds": kinds, "one": np.int64(1), "table": TABLE}
    held = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "kinds", [positions], [rows], held)
    path = tmp_path / "kinds.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    given = np.array([[5, 0, 3, 1]], np.int64)
    found = tvm_pulp.compile(path).run({"positions": given}).outputs["rows"]
    np.testing.assert_array_equal(found, TABLE[kinds[0, given] + 1])
