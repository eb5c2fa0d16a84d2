"""A graph may list a value twice among its outputs: each is an output with a name of its own."""

from pathlib import Path

import numpy as np
import onnx
import pytest

import tvm_pulp
from tests.frontend.quantized_onnx import Builder, onnxruntime_run
from tvm_pulp.frontend.imported import output_names
from tvm_pulp.frontend.zoo.onnx_graph import OnnxGraph


def test_names_that_are_repeated_get_numbers() -> None:
    assert output_names(["a", "b", "a", "a"]) == ("a", "b", "a_1", "a_2")
    assert output_names(["a", "a", "a_1"]) == ("a", "a_2", "a_1")


@pytest.mark.parametrize("target", [[], ["siracusa"]])
def test_quantized_network(target: list[str], tmp_path: Path) -> None:
    builder = Builder(np.random.default_rng(1))
    real = builder.node("Relu", [builder.activation([2, 6], "int8")])
    name = builder.node("QuantizeLinear", [real, builder.constant(np.float32(0.01)), builder.constant(np.int8(3))])
    model = builder.typed_model([name, name])
    onnx.save(model, tmp_path / "twice.onnx")
    soc = {"target": "c", "soc": target[0]} if target else {}
    outputs = tvm_pulp.compile(tmp_path / "twice.onnx", **soc).run(builder.feeds).outputs
    assert list(outputs) == [name, f"{name}_1"]
    for found, expected in zip(outputs.values(), onnxruntime_run(model, builder.feeds), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_integer_dialect(tmp_path: Path) -> None:
    graph = OnnxGraph("twice")
    graph.declare_input("x", "int8", (1, 6))
    graph.node("Add", ["x", "x"], "y")
    for _ in range(2):
        graph.declare_output("y", "int32", (1, 6))
    onnx.save(graph.model(), tmp_path / "twice.onnx")
    feeds = {"x": np.arange(6, dtype=np.int8).reshape(1, 6)}
    outputs = tvm_pulp.compile(tmp_path / "twice.onnx", input_types={"x": "int8"}).run(feeds).outputs
    assert list(outputs) == ["y", "y_1"] and all((y == 2 * feeds["x"]).all() for y in outputs.values())
