"""Padding as wide as the kernel is computed before the convolution, and the result stays the same."""

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import tvm_pulp


def convolution(kernel: int, pads: list[int]) -> onnx.ModelProto:
    source = np.random.default_rng(0)
    weight = source.integers(-20, 20, (5, 3, kernel, kernel)).astype(np.float32)
    node = helper.make_node("Conv", ["x", "w"], ["y"], kernel_shape=[kernel, kernel], pads=pads, group=1)
    size = [7 + pads[0] + pads[2] - kernel + 1, 6 + pads[1] + pads[3] - kernel + 1]
    graph = helper.make_graph(
        [node],
        "wide_padding",
        [helper.make_tensor_value_info("x", onnx.TensorProto.INT8, [1, 3, 7, 6])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1, 5, *size])],
        [numpy_helper.from_array(weight, "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("kernel", "pads", "explicit"), [(1, [1, 1, 1, 1], 1), (2, [0, 3, 2, 2], 1), (3, [2, 2, 2, 2], 0)]
)
@pytest.mark.parametrize("target", ["c", "uma-neureka"])
def test_results_do_not_change(
    kernel: int, pads: list[int], explicit: int, target: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("model") / "model.onnx"
    model = convolution(kernel, pads)
    path.write_bytes(model.SerializeToString())
    app = tvm_pulp.compile(path, target=target, soc="siracusa", l1=1024)
    operators = [layer["op"] for layer in app.metadata["tvm_pulp"]["layers"]]
    assert operators.count("pad") == explicit and "conv2d" in operators
    x = np.random.default_rng(1).integers(-128, 128, (1, 3, 7, 6)).astype(np.int8)
    weight = numpy_helper.to_array(model.graph.initializer[0]).astype(np.int64)
    padded = np.pad(x.astype(np.int64), ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (kernel, kernel), axis=(2, 3))
    expected = np.einsum("nchwij,ocij->nohw", windows, weight)
    (result,) = app.run({"x": x}).outputs.values()
    np.testing.assert_array_equal(result, expected)
