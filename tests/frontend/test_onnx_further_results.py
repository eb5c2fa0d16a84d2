"""Results behind the first, and operands whose conversion by TVM made something else of them or nothing."""

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

import tvm_pulp
from tests.frontend.single_onnx import node_model
from tvm_pulp.errors import UserError

GENERATOR = np.random.default_rng(5)
X = GENERATOR.normal(size=(2, 3, 4)).astype(np.float32)


def results(model: Any, *inputs: np.ndarray) -> list[np.ndarray]:
    given = {value.name: array for value, array in zip(model.graph.input, inputs, strict=True)}
    return list(tvm_pulp.compile(model).run(given).outputs.values())


def references(model: Any, *inputs: np.ndarray) -> list[np.ndarray]:
    given = {value.name: array for value, array in zip(model.graph.input, inputs, strict=True)}
    return [np.asarray(a) for a in ReferenceEvaluator(model).run(None, given)]


def check(model: Any, *inputs: np.ndarray, exactly: bool = False) -> None:
    made, wanted = results(model, *inputs), references(model, *inputs)
    assert [a.dtype for a in made] == [a.dtype for a in wanted]
    for a, b in zip(made, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=0 if exactly else 1e-5, atol=0 if exactly else 1e-6)


@pytest.mark.parametrize("axis", [-1, 1])
def test_mean_and_deviation_of_a_norm(axis: int) -> None:
    check(node_model("LayerNormalization", [X], {"w": np.ones(X.shape[axis:], np.float32)}, results=3, axis=axis), X)


def test_the_mean_of_a_norm_is_read_by_other_nodes() -> None:
    nodes = [
        helper.make_node("LayerNormalization", ["x", "w"], ["", "mean"]),
        helper.make_node("Sub", ["x", "mean"], ["y"]),
    ]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, list(X.shape)) for n in ("x", "y")]
    weight = helper.make_tensor("w", TensorProto.FLOAT, [4], np.ones(4))
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], [weight])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    np.testing.assert_allclose(results(model, X)[0], X - X.mean(-1, keepdims=True), atol=1e-6)


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_weights_that_are_inputs(kind: str, direction: str) -> None:
    gates, hidden = {"LSTM": 4, "GRU": 3, "RNN": 1}[kind], 5
    w, r = (GENERATOR.normal(size=(1, gates * hidden, size)).astype(np.float32) for size in (4, hidden))
    model = node_model(kind, [X, w, r], results=2, hidden_size=hidden, direction=direction)
    made, plain = results(model, X, w, r), node_model(kind, [X], {"w": w, "r": r}, results=2, **_of(model))
    for a, b in zip(made, results(plain, X), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)
    if direction == "forward":
        np.testing.assert_allclose(made[0], references(model, X, w, r)[0], atol=1e-5)


def _of(model: Any) -> dict[str, Any]:
    return {a.name: helper.get_attribute_value(a) for a in model.graph.node[0].attribute}


def test_a_message_names_a_node_by_the_result_that_it_has() -> None:
    w, r = np.ones((1, 20, 4), np.float32), np.ones((1, 20, 5), np.float32)
    model = node_model("LSTM", [X, w, r], results=2, hidden_size=5, clip=1.0)
    model.graph.node[0].output[0] = ""
    del model.graph.output[0]
    with pytest.raises(UserError, match="node 'y1' "):
        tvm_pulp.compile(model)


def test_dropout_leaves_everything() -> None:
    model = node_model("Dropout", [X], {"ratio": np.float32(0.5)})
    np.testing.assert_array_equal(results(model, X)[0], X)
    trains = node_model("Dropout", [X], {"ratio": np.float32(0.5), "training": np.array(True)})
    with pytest.raises(UserError, match="draws random numbers"):
        tvm_pulp.compile(trains)


def test_the_mask_of_dropout_holds_truth() -> None:
    model = node_model("Dropout", [X], {"ratio": np.float32(0.5)}, results=2)
    model.graph.node.append(helper.make_node("Where", ["y1", "x0", "zero"], ["z"]))
    model.graph.initializer.append(helper.make_tensor("zero", TensorProto.FLOAT, [], [0]))
    model.graph.output[1].name = "z"
    np.testing.assert_array_equal(results(model, X)[1], X)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, np.uint8])
def test_ones_on_a_diagonal_have_the_type_that_is_stated(dtype: type) -> None:
    x = np.zeros((3, 5), np.int32)
    model = node_model("EyeLike", [x], k=1, dtype=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))
    model.graph.output[0].type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    check(model, x, exactly=True)


@pytest.mark.parametrize("exponent", [np.int32, np.int64, np.uint8, np.float64])
def test_floats_to_a_power_of_another_type(exponent: type) -> None:
    x, by = np.abs(X[0]), np.array([[0], [2], [3]], exponent)
    check(node_model("Pow", [x, by]), x, by)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_integers_to_a_small_constant_power(dtype: type) -> None:
    x = np.array([-3, 0, 2, 11], dtype)
    check(node_model("Pow", [x], {"by": np.array([3], dtype)}), x, exactly=True)
    wide = node_model("Pow", [x], {"by": np.full((2, 1), 2, dtype)})
    check(wide, x, exactly=True)
    with pytest.raises(UserError, match="need one constant exponent from 1 to 8"):
        tvm_pulp.compile(node_model("Pow", [x], {"by": np.array([2, 3, 2, 3], dtype)}))


@pytest.mark.parametrize("opset", [7, 9])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_upsample(opset: int, mode: str) -> None:
    x, scales = X[None], np.array([1, 1, 2, 3], np.float32)
    attributes = {"scales": scales.tolist()} if opset == 7 else {}
    model = node_model("Upsample", [x], {} if opset == 7 else {"s": scales}, opset, mode=mode, **attributes)
    kept = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor", "mode": mode}
    newer = node_model("Resize", [x], {"roi": np.zeros(0, np.float32), "scales": scales}, 13, **kept)
    np.testing.assert_allclose(results(model, x)[0], references(newer, x)[0], atol=1e-6)


@pytest.mark.parametrize(
    ("operator", "others", "operand", "attributes"),
    [
        ("Reshape", [np.array([2, 12])], "operand 1", {}),
        ("Expand", [np.array([2, 3, 4])], "operand 1", {}),
        ("Pad", [np.zeros(6, np.int64)], "operand 1", {}),
        ("Slice", [np.array([0]), np.array([1])], "operands 1 and 2", {}),
        ("ReduceL1", [np.array([1])], "operand 1", {}),
        ("Squeeze", [np.array([0])], "operand 1", {}),
        ("Tile", [np.array([1, 1, 2])], "operand 1", {}),
    ],
)
def test_an_operand_that_must_be_constant_is_named(
    operator: str, others: list[np.ndarray], operand: str, attributes: dict[str, Any]
) -> None:
    with pytest.raises(UserError, match=rf"^node 'y' \({operator}\): {operand} must be constant: make it an init"):
        tvm_pulp.compile(node_model(operator, [X, *others], **attributes))
