"""Float operators that TVM alone cannot print as C, run on the host, against onnxruntime."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from tests.frontend.quantized_onnx import onnxruntime_run
from tvm_pulp import compile

pytest.importorskip("onnxruntime")
FUNCTIONS = ("Sigmoid", "Tan", "Sinh", "Cosh", "Asinh", "Atanh", "Hardmax")
POSITIONS: list[tuple[str, dict[str, Any]]] = [
    ("ArgMax", {"axis": 1}),
    ("ArgMax", {"axis": 0, "keepdims": 0}),
    ("ArgMin", {"axis": -1, "keepdims": 0}),
]


def _compare(op: str, attributes: dict[str, Any], element: int, folder: Path) -> None:
    x = np.random.default_rng(0).uniform(-0.9, 0.9, (3, 4, 5)).astype(np.float32)
    x[0, 0, 1] = x[0, 0, 3] = 0.95  # the first of equal values counts
    info = [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)]
    result = [helper.make_tensor_value_info("y", element, None)]
    graph = helper.make_graph([helper.make_node(op, ["x"], ["y"], **attributes)], "g", info, result)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    found, (expected,) = compile(path).run({"x": x}).outputs["y"], onnxruntime_run(model, {"x": x})
    assert found.shape == expected.shape and found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=2e-7)


@pytest.mark.parametrize("op", FUNCTIONS)
def test_functions(op: str, tmp_path: Path) -> None:
    _compare(op, {}, TensorProto.FLOAT, tmp_path)


@pytest.mark.parametrize(("op", "attributes"), POSITIONS)
def test_positions(op: str, attributes: dict[str, Any], tmp_path: Path) -> None:
    _compare(op, attributes, TensorProto.INT64, tmp_path)
