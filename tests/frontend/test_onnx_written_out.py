"""Newer standard operators, replaced by what ONNX defines them to be; definitions may use each other."""

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

import tvm_pulp
from tests.frontend.single_onnx import node_model
from tvm_pulp.errors import UserError

GENERATOR = np.random.default_rng(3)
X = GENERATOR.normal(size=(3, 5)).astype(np.float32)
LABELS = np.array([0, 4, 2], np.int64)
WEIGHT = np.abs(GENERATOR.normal(size=5)).astype(np.float32)


@pytest.mark.sample(5)
@pytest.mark.parametrize("operator", ["SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"])
@pytest.mark.parametrize("attributes", [{}, {"reduction": "none"}, {"ignore_index": 2}], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_losses(operator: str, attributes: dict[str, Any], weighted: bool) -> None:
    model = node_model(operator, [X, LABELS], {"w": WEIGHT} if weighted else {}, **attributes)
    given = {"x0": X, "x1": LABELS}
    wanted = ReferenceEvaluator(model).run(None, given)[0]
    np.testing.assert_allclose(tvm_pulp.compile(model).run(given).outputs["y"], wanted, rtol=1e-5)


def test_an_operand_left_out_before_others_is_named() -> None:
    ends = {"x": [1, 2, 6], "w": [2, 1, 3], "past": [1, 2, 2], "y": None, "present": None}
    values = {n: helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, shape in ends.items()}
    node = helper.make_node("CausalConvWithState", ["x", "w", "", "past"], ["y", "present"])
    *inputs, y, present = values.values()
    graph = helper.make_graph([node], "g", inputs, [y, present])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 27)])
    with pytest.raises(UserError, match="cannot be written out with these operands: give those that are left out"):
        tvm_pulp.compile(model)
