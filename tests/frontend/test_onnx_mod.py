"""The remainder of floats: C has no operator for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

import tvm_pulp


def test_float_remainder_takes_the_sign_of_the_dividend(tmp_path: Path) -> None:
    a = np.array([5.3, -5.3, 7, -7, 2.5, 0.1], np.float32)
    b = np.array([2, 2, -3, -3, 1, 0.3], np.float32)
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [6]) for name in ("a", "b")]
    result = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [6])]
    graph = helper.make_graph([helper.make_node("Mod", ["a", "b"], ["y"], fmod=1)], "remainder", inputs, result)
    path = tmp_path / "mod.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), str(path))
    outputs = tvm_pulp.compile(path).run({"a": a, "b": b}).outputs
    np.testing.assert_allclose(outputs["y"], np.fmod(a, b), rtol=1e-6)
