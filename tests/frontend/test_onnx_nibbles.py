"""Weights of four bits: equal to onnxruntime, few bits on the engine, and refused where no constant holds them."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.frontend.quantized_onnx import canonical, dialect_run, onnxruntime_run
from tvm_pulp.errors import UserError
from tvm_pulp.frontend.onnx_file import from_model, read

ELEMENTS = {"int4": TensorProto.INT4, "uint4": TensorProto.UINT4}


def network(nodes: list[Any], *tensors: Any) -> Any:
    """int8 x[2, 9] to int8 y."""
    x = helper.make_tensor_value_info("x", TensorProto.INT8, [2, 9])
    y = helper.make_tensor_value_info("y", TensorProto.INT8, None)
    fixed = [
        numpy_helper.from_array(np.float32(0.02), "s"),
        numpy_helper.from_array(np.int8(3), "z"),
        numpy_helper.from_array(np.float32(0.11), "t"),
    ]
    graph = helper.make_graph(nodes, "g", [x], [y], [*fixed, *tensors])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    model.ir_version = 10
    return model


def dense(element: str, per_channel: bool) -> Any:
    """An odd number of weights, so that the last byte is half empty."""
    rng = np.random.default_rng(7)
    low, high = (-8, 8) if element == "int4" else (0, 16)
    channels = 5 if per_channel else 1
    scale = rng.uniform(0.05, 0.2, channels).astype(np.float32)
    zero = rng.integers(low, high, channels) if element == "uint4" else np.zeros(channels, np.int64)
    shape = [5] if per_channel else []
    tensors = [
        helper.make_tensor("w", ELEMENTS[element], [9, 5], rng.integers(low, high, 45).tolist()),
        helper.make_tensor("ws", TensorProto.FLOAT, shape, scale.tolist()),
        helper.make_tensor("wz", ELEMENTS[element], shape, zero.tolist()),
    ]
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "s", "z"], ["xr"]),
        helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wr"], **({"axis": 1} if per_channel else {})),
        helper.make_node("MatMul", ["xr", "wr"], ["p"]),
        helper.make_node("QuantizeLinear", ["p", "t", "z"], ["y"]),
    ]
    return network(nodes, *tensors)


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("element", ELEMENTS)
def test_weights_as_onnxruntime_reads_them(element: str, per_channel: bool) -> None:
    model = dense(element, per_channel)
    x = np.random.default_rng(1).integers(-128, 128, (2, 9)).astype(np.int8)
    (expected,) = onnxruntime_run(model, {"x": x})
    np.testing.assert_array_equal(dialect_run(canonical(model), {"x": x})[0], expected)


@pytest.mark.parametrize("element", ELEMENTS)
def test_weights_in_blocks(element: str) -> None:
    # Three weights of a column share a scale and a zero point.
    rng = np.random.default_rng(7)
    low, high = (-8, 8) if element == "int4" else (0, 16)
    zero = rng.integers(low, high, 15) if element == "uint4" else np.zeros(15, np.int64)
    tensors = [
        helper.make_tensor("w", ELEMENTS[element], [9, 5], rng.integers(low, high, 45).tolist()),
        helper.make_tensor("ws", TensorProto.FLOAT, [3, 5], rng.uniform(0.05, 0.2, 15).tolist()),
        helper.make_tensor("wz", ELEMENTS[element], [3, 5], zero.tolist()),
    ]
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "s", "z"], ["xr"]),
        helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wr"], axis=0, block_size=3),
        helper.make_node("MatMul", ["xr", "wr"], ["p"]),
        helper.make_node("QuantizeLinear", ["p", "t", "z"], ["y"]),
    ]
    model = network(nodes, *tensors)
    feeds = {"x": rng.integers(-128, 128, (2, 9)).astype(np.int8)}
    (found,) = dialect_run(canonical(model), feeds)
    np.testing.assert_array_equal(found, onnxruntime_run(model, feeds)[0])


@pytest.mark.parametrize("element", ELEMENTS)
def test_stored_values_may_be_packed_in_either_field_or_outside(element: str, tmp_path: Path) -> None:
    model = dense(element, per_channel=True)
    wanted = from_model(model).constants["w"]
    tensor = next(t for t in model.graph.initializer if t.name == "w")
    content = bytes(list(tensor.int32_data)) or tensor.raw_data
    del tensor.int32_data[:]
    tensor.raw_data = content
    np.testing.assert_array_equal(from_model(model).constants["w"], wanted)
    onnx.save(model, tmp_path / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    np.testing.assert_array_equal(read(tmp_path / "m.onnx").constants["w"], wanted)
    tensor.raw_data = content[:-1]
    with pytest.raises(UserError, match=r"^tensor 'w' holds 22 bytes of two elements each, .* needs 23 bytes"):
        from_model(model)


def test_weights_quantized_in_the_graph() -> None:
    """Stored as floats before a QuantizeLinear: the range of four bits clips them."""
    rng = np.random.default_rng(3)
    model = dense("int4", per_channel=False)
    x, real = rng.integers(-128, 128, (2, 9)).astype(np.int8), rng.normal(size=(9, 5)).astype(np.float32)
    kept = [t for t in model.graph.initializer if t.name != "w"]
    del model.graph.initializer[:]
    model.graph.initializer.extend([*kept, numpy_helper.from_array(real, "wf")])
    model.graph.node.insert(0, helper.make_node("QuantizeLinear", ["wf", "ws", "wz"], ["w"]))
    (expected,) = onnxruntime_run(model, {"x": x})
    np.testing.assert_array_equal(dialect_run(canonical(model), {"x": x})[0], expected)
    assert from_model(model).constants["w"].min() == -8


def test_activations_of_four_bits_are_refused() -> None:
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "s", "z"], ["xr"]),
        helper.make_node("QuantizeLinear", ["xr", "t", "n"], ["q"], name="to_nibbles"),
        helper.make_node("DequantizeLinear", ["q", "t", "n"], ["qr"]),
        helper.make_node("QuantizeLinear", ["qr", "s", "z"], ["y"]),
    ]
    model = network(nodes, helper.make_tensor("n", TensorProto.INT4, [], [0]))
    with pytest.raises(
        UserError, match=r"^node 'to_nibbles' \(QuantizeLinear\) makes int4 values at run time, .* int8"
    ):
        from_model(model)
