"""The functions that ONNX's interface of backends names, and what models with inputs that decide shapes do."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.backend.base import Backend, BackendRep

from tests.frontend.single_onnx import node_model
from tvm_pulp import onnx_backend
from tvm_pulp.errors import UserError

X = np.arange(6, dtype=np.float32).reshape(2, 3) - 2


def test_the_class_is_a_backend_and_so_is_the_module() -> None:
    assert issubclass(onnx_backend.Backend, Backend)
    model = node_model("Relu", [X])
    prepared = onnx_backend.prepare(model)
    assert isinstance(prepared, BackendRep)
    (by_order,), (by_name,) = prepared.run([X]), prepared.run({"x0": X})
    np.testing.assert_array_equal(by_order, np.maximum(X, 0))
    np.testing.assert_array_equal(by_name, by_order)
    np.testing.assert_array_equal(prepared.run(X)["y"], by_order)
    np.testing.assert_array_equal(onnx_backend.run_model(model, [X])[0], by_order)
    assert onnx_backend.is_compatible(model)


@pytest.mark.parametrize(
    ("device", "known"),
    [("CPU", True), ("CPU:0", True), ("siracusa", True), ("SIRACUSA", True), ("CUDA", False), ("CPU:1", False)],
)
def test_devices(device: str, known: bool) -> None:
    assert onnx_backend.supports_device(device) is known
    if not known:
        with pytest.raises(UserError, match=f"no device '{device}': choose one of CPU, "):
            onnx_backend.prepare(node_model("Relu", [X]), device)


def test_a_soc_is_a_device() -> None:
    prepared = onnx_backend.prepare(node_model("Relu", [X]), "rv32-mcu")
    np.testing.assert_array_equal(prepared.run([X])[0], np.maximum(X, 0))


def test_an_input_that_decides_a_shape_is_compiled_for_its_values() -> None:
    prepared = onnx_backend.prepare(node_model("Reshape", [X, np.array([3, 2])]))
    assert prepared.run([X, np.array([3, 2])])[0].shape == (3, 2)
    again = X + 1
    np.testing.assert_array_equal(prepared.run([again, np.array([6, -1])])[0], again.reshape(6, 1))


def test_a_size_that_is_left_open_is_that_of_the_input() -> None:
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["n", 3]) for n in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", values[:1], values[1:])
    prepared = onnx_backend.prepare(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]))
    for x in (X, X[:1]):
        np.testing.assert_array_equal(prepared.run([x])[0], np.maximum(x, 0))


def test_options_are_those_of_the_compiler() -> None:
    app = onnx_backend.prepare(node_model("Relu", [X]), module_name="net").app
    assert app is not None and app.metadata["model_name"] == "net"
    for model in (node_model("Relu", [X]), node_model("Reshape", [X, np.array([3, 2])])):
        with pytest.raises(UserError, match="sped"):
            onnx_backend.prepare(model, sped=3)
    with pytest.raises(UserError, match=r"run\(\) has no option layers"):
        onnx_backend.prepare(node_model("Relu", [X])).run([X], layers=True)


@pytest.mark.parametrize("inputs", [[], [X, X], {"other": X}])
def test_one_array_for_every_input(inputs: Any) -> None:
    with pytest.raises(UserError, match="give one"):
        onnx_backend.prepare(node_model("Relu", [X])).run(inputs)


@pytest.mark.parametrize("stated", [False, True])
def test_a_node_runs_by_itself(stated: bool) -> None:
    node = helper.make_node("Reshape", ["a", "shape"], ["b"])
    outputs = [(np.dtype(np.float32), (3, 2))] if stated else None
    (made,) = onnx_backend.run_node(node, [X, np.array([3, 2])], outputs_info=outputs, opset_version=19)
    np.testing.assert_array_equal(made, X.reshape(3, 2))


def test_a_node_that_cannot_be_is_refused() -> None:
    with pytest.raises(UserError, match="ONNX cannot tell what the results of MatMul are"):
        onnx_backend.run_node(helper.make_node("MatMul", ["a", "b"], ["c"]), [X, X])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_onnx_runs_its_tests_with_the_module(tmp_path: Path) -> None:
    """The runner of the onnx package itself."""
    import unittest

    from onnx.backend.test import BackendTest

    tests = BackendTest(onnx_backend, __name__).include("^test_relu_cpu$").include("^test_softplus_.*cpu$")
    result = unittest.TestResult()
    tests.test_suite.run(result)
    assert result.errors == result.failures == []
    assert result.testsRun - len(result.skipped) >= 3
    assert onnx.__version__
