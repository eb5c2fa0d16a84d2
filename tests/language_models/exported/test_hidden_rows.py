"""Rows of the past that hold nothing are hidden, whatever the file's own mask does to the scores."""

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper

from tvm_pulp.language_models.exported.cache_rows import HIDDEN, LEAST, hide_unwritten

PAST, ROWS = 4, 1


@pytest.mark.parametrize("score", [0.0, 50.0, -1e9, float(np.finfo(np.float32).min)])
def test_no_weight_goes_to_a_row_that_holds_nothing(score: float) -> None:
    scores = helper.make_tensor_value_info("past", TensorProto.FLOAT, [1, PAST + ROWS])
    weights = helper.make_tensor_value_info("weights", TensorProto.FLOAT, [1, PAST + ROWS])
    graph = helper.make_graph([helper.make_node("Softmax", ["past"], ["weights"])], "g", [scores], [weights])
    hide_unwritten(graph, {"past"}, PAST, ROWS)
    graph.node.extend([graph.node.pop(0)])  # the softmax reads what was added behind it
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    hidden = np.array([0, 0, LEAST, LEAST], np.float32)
    given = {"past": np.full((1, PAST + ROWS), score, np.float32), HIDDEN: hidden}
    (found,) = session.run(None, given)
    np.testing.assert_allclose(found, [[1 / 3, 1 / 3, 0, 0, 1 / 3]], rtol=1e-6)
