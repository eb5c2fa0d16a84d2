"""Nodes that cannot be: each is refused by one sentence that names it, and nothing else reaches the terminal."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import AttributeProto, TensorProto, helper, numpy_helper

from tvm_pulp.tvmc.main import main

Model = Any
Capture = pytest.CaptureFixture[str]


def _model(op: str, operands: dict[str, Any], **attributes: Any) -> Model:
    """dequantize(x), then one node called `spoiled` with constant operands, then quantize."""
    shape = list(operands.pop("x"))
    constants = {"s": np.float32(0.1), "z": np.int8(4), **operands}
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "s", "z"], ["f"], name="first"),
        helper.make_node(op, ["f", *operands], ["r"], name="spoiled", **attributes),
        helper.make_node("QuantizeLinear", ["r", "s", "z"], ["y"], name="last"),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.INT8, shape)],
        [helper.make_tensor_value_info("y", TensorProto.INT8, None)],
        [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _conv(weight: tuple[int, ...] = (8, 4, 3, 3), op: str = "Conv", **attributes: Any) -> Model:
    operands = {"x": (1, 4, 8, 8), "w": np.ones(weight, np.float32)}
    return _model(op, operands, **{"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], **attributes})


def _reshape(*shape: int) -> Model:
    return _model("Reshape", {"x": (2, 3, 4), "shape": np.array(shape, np.int64)})


def _parameters(scale: Any, zero: Any, axis: int) -> Model:
    model = _model("Relu", {"x": (2, 3, 4)})
    node = model.graph.node[2]
    node.name = "spoiled"
    node.attribute.append(helper.make_attribute("axis", axis))
    node.input[1:] = ["s2", "z2"]
    model.graph.initializer.extend(
        [numpy_helper.from_array(np.asarray(v), k) for k, v in (("s2", scale), ("z2", zero))]
    )
    return model


def _untyped(model: Model, name: str, kind: int) -> Model:
    """An attribute that says it holds something else than what it has."""
    next(a for a in model.graph.node[1].attribute if a.name == name).type = kind
    return model


def _without_operands(model: Model, left: int) -> Model:
    del model.graph.node[1].input[left:]
    return model


CASES: dict[str, tuple[Callable[[], Model], str]] = {
    "pads_of_no_type": (
        lambda: _untyped(_conv(), "pads", AttributeProto.UNDEFINED),
        "attribute 'pads' holds something else, not integers",
    ),
    "pads_that_are_a_type": (
        lambda: _untyped(_conv(), "pads", AttributeProto.TYPE_PROTO),
        "attribute 'pads' holds something else, not integers",
    ),
    "a_product_of_one": (
        lambda: _without_operands(_model("Gemm", {"x": (2, 3), "b": np.ones((3, 4), np.float32)}), 1),
        "it has 1 operands and needs at least 2",
    ),
    "a_transpose_of_nothing": (
        lambda: _without_operands(_model("Transpose", {"x": (2, 3)}, perm=[1, 0]), 0),
        "it has 0 operands and needs at least 1",
    ),
    "groups_of_the_weights": (lambda: _conv(group=2), "groups"),
    "groups_of_the_filters": (lambda: _conv((9, 2, 3, 3), group=2), "groups"),
    "no_groups": (lambda: _conv(group=0), "group"),
    "channels": (lambda: _conv((8, 5, 3, 3)), "channels"),
    "zero_stride": (lambda: _conv(strides=[0, 1]), "strides"),
    "negative_stride": (lambda: _conv(strides=[-1, 1]), "strides"),
    "missing_stride": (lambda: _conv(strides=[1]), "strides"),
    "zero_dilation": (lambda: _conv(dilations=[0, 1]), "dilations"),
    "missing_dilation": (lambda: _conv(dilations=[2]), "dilations"),
    "kernel_against_weights": (lambda: _conv(kernel_shape=[5, 5]), "kernel_shape"),
    "missing_kernel": (lambda: _conv(kernel_shape=[3]), "kernel_shape"),
    "negative_pads": (lambda: _conv(pads=[-1, 0, 0, 0]), "pads"),
    "missing_pads": (lambda: _conv(pads=[1, 1]), "pads"),
    "unknown_auto_pad": (lambda: _conv(auto_pad="SOMEHOW"), "auto_pad"),
    "strides_are_floats": (lambda: _conv(strides=[1.0, 1.0]), "strides"),
    "group_is_a_text": (lambda: _conv(group="two"), "group"),
    "pads_are_a_number": (lambda: _conv(pads=1), "pads"),
    "window_beyond_the_image": (lambda: _conv((8, 4, 3, 3), pads=[0] * 4, dilations=[9, 9]), ""),
    "transposed_groups": (lambda: _conv((4, 8, 3, 3), op="ConvTranspose", group=3), "group"),
    "transposed_kernel": (lambda: _conv((4, 8, 3, 3), op="ConvTranspose", kernel_shape=[2, 2]), "kernel_shape"),
    "transposed_pads": (lambda: _conv((4, 8, 3, 3), op="ConvTranspose", pads=[-1, 0, 0, 0]), "pads"),
    "pool_stride": (lambda: _model("MaxPool", {"x": (1, 4, 8, 8)}, kernel_shape=[2, 2], strides=[0, 0]), "strides"),
    "pool_pads": (lambda: _model("MaxPool", {"x": (1, 4, 8, 8)}, kernel_shape=[2, 2], pads=[-1] * 4), "pads"),
    "pool_kernel": (lambda: _model("AveragePool", {"x": (1, 4, 8, 8)}, kernel_shape=[2]), "kernel_shape"),
    **{
        f"{op}_of_{len(shape)}_axes": (
            lambda op=op, shape=shape: _model(op, {"x": shape}),  # type: ignore[misc]
            f"an operand of shape {list(shape)} has no axis to pool over",
        )
        for op in ("GlobalAveragePool", "GlobalMaxPool")
        for shape in ((), (4, 3))
    },
    "pool_beyond_the_image": (lambda: _model("MaxPool", {"x": (1, 4, 8, 8)}, kernel_shape=[9, 9]), ""),
    "reshape_size": (lambda: _reshape(5, 5), "24"),
    "reshape_rest": (lambda: _reshape(-1, 5), "24"),
    "reshape_two_rests": (lambda: _reshape(-1, -1), "-1"),
    "reshape_negative": (lambda: _reshape(-2, 4), "-2"),
    "product": (lambda: _model("MatMul", {"x": (2, 3), "w": np.ones((4, 5), np.float32)}), ""),
    "sum": (lambda: _model("Add", {"x": (2, 3), "w": np.ones((4,), np.float32)}), ""),
    "gemm": (lambda: _model("Gemm", {"x": (2, 3), "w": np.ones((4, 5), np.float32)}), ""),
    "product_of_a_number": (
        lambda: _model("MatMul", {"x": (), "w": np.ones((4, 5), np.float32)}),
        "cannot be multiplied",
    ),
    "product_of_batches": (
        lambda: _model("MatMul", {"x": (2, 3, 4), "w": np.ones((3, 4, 5), np.float32)}),
        "operands of shape [2, 3, 4] and [3, 4, 5] cannot be multiplied",
    ),
    "permutation": (lambda: _model("Transpose", {"x": (2, 3, 4)}, perm=[0, 0, 1]), "perm"),
    "concatenation": (lambda: _model("Concat", {"x": (2, 3), "w": np.ones((3, 4), np.float32)}, axis=0), ""),
    "axis": (lambda: _model("Softmax", {"x": (2, 3)}, axis=5), "axis"),
    "axis_is_a_float": (lambda: _model("Softmax", {"x": (2, 3)}, axis=1.0), "axis"),
    "scale_count": (lambda: _parameters(np.ones(5, np.float32), np.zeros(5, np.int8), 1), "axis 1"),
    "zero_point_count": (lambda: _parameters(np.ones(3, np.float32), np.zeros(2, np.int8), 1), "axis 1"),
    "scale_rank": (lambda: _parameters(np.ones((1, 3), np.float32), np.zeros((1, 3), np.int8), 1), ""),
    "quantization_axis": (lambda: _parameters(np.ones(3, np.float32), np.zeros(3, np.int8), 7), "axis"),
    "scale_not_finite": (lambda: _parameters(np.float32(np.inf), np.int8(0), 1), "positive and finite"),
    "split_sizes": (
        lambda: _model("Split", {"x": (2, 6), "sizes": np.array([4, 4], np.int64)}, axis=1),
        "",
    ),
    "expand_size": (lambda: _model("Expand", {"x": (2, 3), "shape": np.array([2, 5], np.int64)}), ""),
    "gather_index": (lambda: _model("Gather", {"x": (2, 3), "i": np.array([7], np.int64)}, axis=1), ""),
    "squeeze_axis": (lambda: _model("Squeeze", {"x": (2, 3), "axes": np.array([1], np.int64)}), ""),
}


@pytest.mark.parametrize("case", CASES)
def test_one_sentence_that_names_the_node(case: str, tmp_path: Path, capfd: Capture) -> None:
    build, expected = CASES[case]
    path = tmp_path / "model.onnx"
    path.write_bytes(build().SerializeToString())
    status = main(["compile", str(path), "-q", "-o", str(tmp_path / "model.tar")])
    shown = capfd.readouterr()
    assert status == 2, shown.err
    assert shown.err.startswith("tvmc compile: ") and shown.err.count("\n") == 1 and not shown.out, shown
    assert "node 'spoiled'" in shown.err and expected in shown.err, shown.err
    assert not (tmp_path / "model.tar").exists()


def _integer_product(op: str, shape: tuple[int, ...], weight: tuple[int, ...]) -> Model:
    """A product of integers, whose operands have scales and zero points between them."""
    scale, zero, real = ["s", "z"], ["z"], op != "MatMulInteger"
    operands = ["x", *scale, "w", *scale] if real else ["x", "w", *zero, *zero]
    domain = "com.microsoft" if op == "QGemm" else ""
    result = scale if op == "QLinearMatMul" else ["", *scale] if real else []
    node = helper.make_node(op, [*operands, *result], ["y"], name="spoiled", domain=domain)
    info, kind = helper.make_tensor_value_info, TensorProto.INT8 if real else TensorProto.INT32
    constants = {"s": np.float32(0.1), "z": np.int8(4), "w": np.ones(weight, np.int8)}
    ends = [info("x", TensorProto.INT8, shape)], [info("y", kind, None)]
    graph = helper.make_graph(
        [node], "g", *ends, [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()]
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


@pytest.mark.parametrize("soc", ["host", "siracusa"])
@pytest.mark.parametrize("op", ["MatMulInteger", "QLinearMatMul", "QGemm"])
@pytest.mark.parametrize(("shape", "weight"), [((), (8, 4)), ((8, 4), ()), ((3, 7), (8, 4)), ((2, 3, 8), (3, 8, 4))])
def test_integer_products(
    op: str, shape: tuple[int, ...], weight: tuple[int, ...], soc: str, tmp_path: Path, capfd: Capture
) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(_integer_product(op, shape, weight).SerializeToString())
    assert main(["compile", str(path), "-q", "--target", "c", "--soc", soc, "-o", str(tmp_path / "model.tar")]) == 2
    expected = f"({op}): operands of shape {list(shape)} and {list(weight)} cannot be multiplied"
    assert expected in capfd.readouterr().err


def _readers(count: int) -> Model:
    """One value that many nodes read, and one node that reads all of theirs."""
    nodes = [helper.make_node("DequantizeLinear", ["x", "s", "z"], ["f"], name="first")]
    nodes += [helper.make_node("Relu", ["f"], [f"r{i}"], name=f"relu{i}") for i in range(count)]
    nodes.append(helper.make_node("Concat", [f"r{i}" for i in range(count)], ["c"], axis=0, name="all"))
    nodes.append(helper.make_node("QuantizeLinear", ["c", "s", "z"], ["y"], name="last"))
    info = helper.make_tensor_value_info
    constants = [numpy_helper.from_array(np.float32(0.1), "s"), numpy_helper.from_array(np.int8(4), "z")]
    ends = [info("x", TensorProto.INT8, [2, 3])], [info("y", TensorProto.INT8, None)]
    graph = helper.make_graph(nodes, "g", *ends, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_too_many_readers(tmp_path: Path, capfd: Capture) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(_readers(1500).SerializeToString())
    assert main(["compile", str(path), "-q", "-o", str(tmp_path / "model.tar")]) == 2
    message = "value 'f' is read by 1500 nodes, more than 1000: it is not plausible here; split the graph"
    assert message in capfd.readouterr().err


def test_expression_too_deep(tmp_path: Path, capfd: Capture) -> None:
    nodes = [helper.make_node("DequantizeLinear", ["x", "s", "z"], ["v0"])]
    nodes += [helper.make_node("Add", [f"v{i}", "v0"], [f"v{i + 1}"], name=f"add{i}") for i in range(900)]
    nodes.append(helper.make_node("QuantizeLinear", ["v900", "s", "z"], ["y"], name="last"))
    model = _readers(1)
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    assert main(["compile", str(path), "-q", "-o", str(tmp_path / "model.tar")]) == 2
    shown = capfd.readouterr().err
    assert "nested too deeply" in shown and shown.count("\n") == 1
