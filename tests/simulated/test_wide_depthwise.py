"""Depthwise convolutions whose weights or inputs are no int8: generated code on all cores, right and as expected."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tvm_pulp
from tests.frontend.quantized_onnx import onnxruntime_run

pytest.importorskip("onnxruntime")
CHANNELS = 32


def network(inputs: Any, weights: Any, zero_point: int, scale: float) -> Any:
    rng, element = np.random.default_rng(3), helper.np_dtype_to_tensor_dtype(np.dtype(inputs))
    limits = np.iinfo(weights)
    constants = {
        "w": rng.integers(limits.min, limits.max + 1, (CHANNELS, 1, 3, 3)).astype(weights),
        "wz": np.array(zero_point, weights), "ws": np.float32(0.003), "xs": np.float32(scale),
        "z": np.array(0, inputs), "ys": np.float32(3 * scale),
    }  # fmt: skip
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "xs", "z"], ["real"], name="first"),
        helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["filters"], name="weights"),
        helper.make_node("Conv", ["real", "filters"], ["c"], name="conv", group=CHANNELS, pads=[1] * 4),
        helper.make_node("QuantizeLinear", ["c", "ys", "z"], ["y"], name="last"),
    ]
    ends = [helper.make_tensor_value_info(n, element, [1, CHANNELS, 12, 12]) for n in ("x", "y")]
    stored = [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("inputs", "weights", "zero_point", "scale"),
    [(np.uint8, np.uint8, 117, 0.02), (np.int16, np.int8, 0, 1e-4)],
    ids=["asymmetric weights", "16-bit inputs"],
)
def test_depthwise(inputs: Any, weights: Any, zero_point: int, scale: float, tmp_path: Path) -> None:
    model = network(inputs, weights, zero_point, scale)
    assert model.graph.input[0].type.tensor_type.elem_type in (TensorProto.UINT8, TensorProto.INT16)
    onnx.save(model, tmp_path / "m.onnx")
    limits = np.iinfo(inputs)
    feeds = {"x": np.random.default_rng(4).integers(limits.min, limits.max + 1, (1, CHANNELS, 12, 12)).astype(inputs)}
    result = tvm_pulp.compile(tmp_path / "m.onnx", target="c", soc="siracusa").run(feeds)
    off = np.abs(result.outputs["y"].astype(int) - onnxruntime_run(model, feeds)[0].astype(int))
    assert off.max() <= 1 and (off == 0).mean() >= 0.995
    layer = next(entry for entry in result.report["layers"] if entry["op"] == "conv2d")
    assert abs(layer["estimated_cycles"] / layer["cycles"] - 1) <= 0.3
    # Nine products an output: eight cores take less than nine cycles for one.
    assert layer["cycles"] <= 9 * layer["macs"] / 8
