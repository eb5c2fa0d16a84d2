"""ONNX Resize where the scale does not divide: every way to place the samples, against onnxruntime."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import tvm_pulp

onnxruntime = pytest.importorskip("onnxruntime", reason="the onnxruntime package (the oracle) is not installed")
PLACES = ("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "asymmetric", "align_corners")


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("place", PLACES)
def test_samples_lie_where_the_standard_says(place: str, mode: str, tmp_path: Path) -> None:
    """5 and 7 samples times 1.3 and 0.7 are 6 and 4: less than the scales say, which is where the rules differ."""
    scales = helper.make_tensor("scales", TensorProto.FLOAT, [4], [1.0, 1.0, 1.3, 0.7])
    node = helper.make_node("Resize", ["x", "", "scales"], ["y"], mode=mode, coordinate_transformation_mode=place)
    source = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 5, 7])]
    result = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2, 6, 4])]
    graph = helper.make_graph([node], "resize", source, result, [scales])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)])
    x = np.random.default_rng(0).normal(size=(1, 2, 5, 7)).astype(np.float32)
    model.ir_version = 9
    path = tmp_path / "resize.onnx"
    onnx.save(model, str(path))
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    (expected,) = session.run(None, {"x": x})
    np.testing.assert_allclose(tvm_pulp.compile(path).run({"x": x}).outputs["y"], expected, rtol=1e-4, atol=1e-5)
