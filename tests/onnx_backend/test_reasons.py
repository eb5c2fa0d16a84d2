"""Every documented reason of a refusal is one that a model meets, and its sentence says so."""

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from tests.frontend.single_onnx import node_model
from tests.onnx_backend.documented import PAGE, exceptions, reason_of, reasons
from tvm_pulp import onnx_backend
from tvm_pulp.errors import UserError

X = np.ones((2, 3), np.float32)
IMAGE = np.ones((1, 1, 4, 4), np.float32)


def typed(operator: str, inputs: list[int], output: int, shape: tuple[int, ...] = (2, 3), **attributes: Any) -> Any:
    """A node whose ends have these types."""
    names = [f"x{n}" for n in range(len(inputs))]
    values = [helper.make_tensor_value_info(n, kind, shape) for n, kind in zip(names, inputs, strict=True)]
    node = helper.make_node(operator, names, ["y"], **attributes)
    graph = helper.make_graph([node], "g", values, [helper.make_tensor_value_info("y", output, None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)


def computed_shape() -> Any:
    """A Reshape by numbers that follow from activations."""
    nodes = [
        helper.make_node("Cast", ["x"], ["whole"], to=TensorProto.INT64),
        helper.make_node("Reshape", ["x", "whole"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)


def attention() -> Any:
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 2, 3, 4]) for n in ("q", "k", "v", "a", "b")]
    node = helper.make_node("Attention", ["q", "k", "v", "", "a", "b"], ["y", "c", "d"])
    results = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in ("y", "c", "d")]
    graph = helper.make_graph([node], "g", values, results)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=12)


SCALES = {"roi": np.zeros(0, np.float32), "scales": np.array([1, 1, 2, 2], np.float32)}
REFUSED = {
    "a type": lambda: typed("Relu", [TensorProto.FLOAT16], TensorProto.FLOAT16),
    "truth": lambda: typed("Not", [TensorProto.BOOL], TensorProto.UINT8),
    "an operator that": lambda: node_model("Det", [np.ones((2, 2), np.float32)]),
    "an operator without": lambda: node_model("Acos", [X]),
    "an operand": computed_shape,
    "a result": lambda: typed("NonZero", [TensorProto.FLOAT], TensorProto.INT64),
    "a tensor": lambda: typed("Relu", [TensorProto.FLOAT], TensorProto.FLOAT, (0, 3)),
    "a mode": lambda: node_model("Resize", [IMAGE], SCALES, mode="linear", antialias=1),
    "one of several": lambda: node_model("MaxPool", [IMAGE], results=2, kernel_shape=[2, 2]),
    "operands for": attention,
    "powers": lambda: node_model("Pow", [np.ones(3, np.int32), np.ones(3, np.int32)]),
    "random": lambda: node_model("Dropout", [X], {"ratio": np.float32(0.5), "training": np.array(True)}),
    "a scalar": lambda: node_model("Identity", [np.float32(1)]),
    "operator sets": lambda: node_model("Relu", [X], opset=6),
}


@pytest.mark.parametrize("begins", REFUSED)
def test_a_refusal_states_its_reason(begins: str) -> None:
    with pytest.raises(UserError) as refused:
        onnx_backend.prepare(REFUSED[begins]())
    found = reason_of(str(refused.value))
    assert found is not None and found.startswith(begins), refused.value
    assert not onnx_backend.is_compatible(REFUSED[begins]())


def test_every_reason_is_met() -> None:
    assert [reason for reason in reasons() if not any(reason.startswith(begins) for begins in REFUSED)] == []
    assert len(exceptions()) == 4, PAGE


def test_an_internal_error_is_no_reason() -> None:
    assert reason_of("node 'y' (Pow): it cannot be converted with operands of shape [3] ('Var')") is None
