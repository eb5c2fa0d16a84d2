"""Truth values as inputs and results: bytes in the program, and what is computed with them."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

import tvm_pulp
from tests.frontend.single_onnx import node_model
from tvm_pulp import onnx_backend

A = np.array([[True, False, True, False]])
B = np.array([[True, True, False, False]])


def truth(operator: str, inputs: list[np.ndarray], **attributes: Any) -> Any:
    model = node_model(operator, inputs, **attributes)
    model.graph.output[0].type.tensor_type.elem_type = TensorProto.BOOL
    return model


@pytest.mark.parametrize("target", [{}, {"target": "c", "soc": "siracusa"}], ids=str)
def test_truth_values_are_bytes_of_the_program(target: dict[str, str]) -> None:
    app = tvm_pulp.compile(truth("And", [A, B]), **target)
    for a in (A, A.astype(np.uint8), A.astype(np.float32)):
        made = app.run({"x0": a, "x1": B}).outputs["y"]
        assert made.dtype == np.uint8
        np.testing.assert_array_equal(made, A & B)
    assert "uint8_t *x0" in " ".join(text.decode() for path, text in app.files.items() if path.endswith(".h"))


def test_the_backend_returns_truth_values() -> None:
    (made,) = onnx_backend.run_model(truth("Not", [A]), [A])
    np.testing.assert_array_equal(made, ~A)
    assert made.dtype == bool


def test_names_that_exist_are_not_taken() -> None:
    nodes = [helper.make_node("Not", ["x"], ["x_truth"]), helper.make_node("Xor", ["x_truth", "x"], ["y"])]
    ends = [helper.make_tensor_value_info(n, TensorProto.BOOL, [1, 4]) for n in "xy"]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    np.testing.assert_array_equal(tvm_pulp.compile(model).run({"x": A}).outputs["y"], np.ones((1, 4)))


def test_layers_with_truth_values_are_compared(tmp_path: Path) -> None:
    app = tvm_pulp.compile(truth("Xor", [A, B]), keep_layers=True)
    table = app.run({"x0": A, "x1": B}, layers=True).compare()
    assert table.first_wrong is None, table.sentence


@pytest.mark.parametrize(("positive", "negative"), [(1, 1), (1, 0), (0, 1), (0, 0)])
def test_infinity_of_a_sign(positive: int, negative: int) -> None:
    x = np.array([1, -1, math.inf, -math.inf, math.nan], np.float32)
    model = truth("IsInf", [x], opset=20, detect_positive=positive, detect_negative=negative)
    wanted = (np.isposinf(x) & bool(positive)) | (np.isneginf(x) & bool(negative))
    np.testing.assert_array_equal(onnx_backend.run_model(model, [x])[0], wanted)


@pytest.mark.parametrize(("operator", "rule"), [("ReduceMax", np.any), ("ReduceMin", np.all)])
def test_extremes_of_truth_values(operator: str, rule: Any) -> None:
    x = np.stack([A[0], B[0], A[0] | B[0]])
    model = truth(operator, [x], opset=20, constants={"axes": np.array([0])}, keepdims=0)
    np.testing.assert_array_equal(onnx_backend.run_model(model, [x])[0], rule(x, axis=0))
