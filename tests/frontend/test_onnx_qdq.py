"""Quantized ONNX files: forms that must be accepted, and one clear sentence for the ones that are not."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.frontend.quantized_onnx import Builder, canonical, dialect_run, operators
from tvm_pulp.errors import UserError
from tvm_pulp.frontend.imported import ImportOptions
from tvm_pulp.frontend.onnx_file import from_model
from tvm_pulp.frontend.onnx_importer import import_standard, is_quantized


def _relu_model(scale: Any = 0.1, zero: Any = None, shape: Any = (2, 3), opset: int = 13, op: str = "Relu") -> Any:
    """quantize(relu(dequantize(x))) with the parameters under test."""
    zero = np.int8(4) if zero is None else zero
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "s", "z"], ["f"], name="first"),
        helper.make_node(op, ["f"], ["r"], name="middle"),
        helper.make_node("QuantizeLinear", ["r", "s", "z"], ["y"], name="last"),
    ]
    element = helper.np_dtype_to_tensor_dtype(np.asarray(zero).dtype)
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", element, shape)],
        [helper.make_tensor_value_info("y", element, None)],
        [numpy_helper.from_array(np.asarray(scale, np.float32), "s"), numpy_helper.from_array(np.asarray(zero), "z")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def test_names_and_dialect() -> None:
    graph = from_model(_relu_model())
    assert is_quantized(graph)
    imported = import_standard(graph, ImportOptions())
    assert (imported.inputs, imported.outputs, imported.dialect) == (("x",), ("y",), "qdq")


@pytest.mark.parametrize("opset", range(11, onnx.defs.onnx_opset_version() + 1))
def test_opsets(opset: int) -> None:
    module = canonical(_relu_model(opset=opset))
    x = np.arange(-128, 128, dtype=np.int8)[: 2 * 3].reshape(2, 3)
    np.testing.assert_array_equal(dialect_run(module, {"x": x})[0], np.maximum(x, 4))


def test_relu_is_a_table() -> None:
    # A function of one byte, whatever the scales are.
    assert operators(canonical(_relu_model())) == {"lookup"}


def test_scale_of_one_element() -> None:
    # Some exporters write a vector of one scale for "per tensor".
    module = canonical(_relu_model(scale=[0.1], zero=np.array([4], np.int8)))
    assert operators(module) == {"lookup"}


def test_unsorted_nodes() -> None:
    model = _relu_model()
    nodes = list(model.graph.node)
    del model.graph.node[:]
    model.graph.node.extend(reversed(nodes))
    assert operators(canonical(model)) == {"lookup"}


def test_weights_quantized_in_the_graph() -> None:
    # Training frameworks store float weights in front of a QuantizeLinear.
    g = Builder(np.random.default_rng(0))
    x = g.activation([3, 8], "int8")
    weight = g.rng.normal(size=(8, 5)).astype(np.float32)
    scale, zero = g.constant(np.full(5, 0.02, np.float32)), g.constant(np.zeros(5, np.int8))
    integers = g.node("QuantizeLinear", [g.constant(weight), scale, zero], axis=1)
    real = g.node("MatMul", [x, g.node("DequantizeLinear", [integers, scale, zero], axis=1)])
    output = g.node("QuantizeLinear", [real, g.constant(np.float32(0.05)), g.constant(np.int8(0))])
    assert operators(canonical(g.typed_model([output]))) == {"dense"}


@pytest.mark.parametrize("scale", [0.0, -0.1, np.nan, np.inf])
def test_bad_scale(scale: float) -> None:
    message = r"node 'first' \(DequantizeLinear\): scale 's' must be positive and finite: quantize the model again"
    with pytest.raises(UserError, match=message):
        canonical(_relu_model(scale=scale))


def test_unsupported_zero_point_type() -> None:
    with pytest.raises(UserError, match=r"node 'first' .*: quantization to int64 is not supported; use one of int8"):
        canonical(_relu_model(zero=np.int64(0)))


def test_dynamic_shape() -> None:
    model = _relu_model(shape=("batch", 3))
    with pytest.raises(UserError, match=r"input 'x' has a dynamic shape .*: fix it with --input-shapes"):
        canonical(model)
    assert operators(canonical(model, ImportOptions(input_shapes={"x": (2, 3)}))) == {"lookup"}


def test_unknown_input_in_shapes() -> None:
    with pytest.raises(UserError, match=r"--input-shapes: the graph has no input 'y'; its inputs are x"):
        canonical(_relu_model(), ImportOptions(input_shapes={"y": (2, 3)}))


def test_unknown_operator() -> None:
    with pytest.raises(UserError, match=r"unsupported ONNX operators: Mystery \(node 'middle'\)"):
        canonical(_relu_model(op="Mystery"))


def test_float_model_is_not_quantized() -> None:
    node = helper.make_node("Relu", ["x"], ["y"])
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2]) for n in ("x", "y")]
    graph = helper.make_graph([node], "g", info[:1], info[1:])
    assert not is_quantized(from_model(helper.make_model(graph)))
