"""What layers made is shown, whatever time the printing of it takes beside the network's own."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

import tvm_pulp


def test_layers_of_much_more_bytes_than_cycles(tmp_path: Path) -> None:
    """The controller prints a byte in some thirty cycles; the network takes a fraction of one for it."""
    shape = [1, 64, 64, 32]
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in "xy"]
    nodes = [helper.make_node("Relu", ["x"], ["y"], name="relu")]
    model = helper.make_model(helper.make_graph(nodes, "wide", info[:1], info[1:]))
    model.opset_import[0].version = 17
    path = tmp_path / "wide.onnx"
    onnx.save(model, path)
    x = np.random.default_rng(5).standard_normal(shape, dtype=np.float32)
    result = tvm_pulp.compile(path, soc="siracusa", keep_layers=True, planner="greedy").run([x], layers=True)
    np.testing.assert_array_equal(next(iter(result.layers.values())), np.maximum(x, 0))
