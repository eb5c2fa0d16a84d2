"""Integer operators of standard ONNX: they wrap in the type of their operands and divide as C does.

The PULP dialect, whose files declare floats, makes 32-bit accumulators of the same operators.
"""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import tvm_pulp
from tests.frontend.single_onnx import node_model
from tvm_pulp.frontend.imported import ImportOptions
from tvm_pulp.frontend.load import import_onnx_graph
from tvm_pulp.frontend.onnx_file import from_model

TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
SIMULATED = {"target": "c", "soc": "siracusa"}


def _random(dtype: str, *shape: int) -> np.ndarray:
    limits = np.iinfo(dtype)
    made = np.random.default_rng([5, *dtype.encode()]).integers(limits.min, limits.max, shape, dtype, endpoint=True)
    made.flat[0], made.flat[1] = limits.max, limits.min
    return made


def _chain(dtype: str) -> Any:
    """Sums, differences and products of two tensors, of a row and of a constant."""
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    nodes = [
        helper.make_node("Add", ["a", "b"], ["sum"]),
        helper.make_node("Sub", ["b", "sum"], ["difference"]),
        helper.make_node("Mul", ["a", "row"], ["product"]),
        helper.make_node("Add", ["product", "held"], ["biased"]),
    ]
    inputs = [helper.make_tensor_value_info(n, kind, s) for n, s in (("a", [3, 5]), ("b", [3, 5]), ("row", [5]))]
    results = [helper.make_tensor_value_info(n, kind, [3, 5]) for n in ("sum", "difference", "product", "biased")]
    held = numpy_helper.from_array(_random(dtype, 5)[::-1], "held")
    graph = helper.make_graph(nodes, "integers", inputs, results, [held])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


CASES = [*((dtype, {}) for dtype in TYPES), *((dtype, SIMULATED) for dtype in ("int8", "uint16"))]


@pytest.mark.sample(6)
@pytest.mark.parametrize(("dtype", "target"), CASES, ids=str)
def test_arithmetic_wraps_in_its_own_type(tmp_path: Path, dtype: str, target: dict[str, str]) -> None:
    model = _chain(dtype)
    onnx.save(model, tmp_path / "model.onnx")
    feeds = {"a": _random(dtype, 3, 5), "b": _random(dtype, 3, 5)[:, ::-1].copy(), "row": _random(dtype, 5)}
    with np.errstate(all="ignore"):
        wanted = ReferenceEvaluator(model).run(None, feeds)
    found = tvm_pulp.compile(tmp_path / "model.onnx", **target).run(feeds).outputs
    for name, expected in zip(found, wanted, strict=True):
        assert found[name].dtype == np.dtype(dtype)
        np.testing.assert_array_equal(found[name], expected)


@pytest.mark.sample(3)
@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("axes", [(0,), (0, 1)], ids=str)
def test_mean_is_truncated_in_its_own_type(tmp_path: Path, dtype: str, axes: tuple[int, ...]) -> None:
    x = (_random(dtype, 4, 9) // np.array(64, dtype)).astype(dtype)
    onnx.save(node_model("ReduceMean", [x], {"axes": np.array(axes)}), tmp_path / "model.onnx")
    found = tvm_pulp.compile(tmp_path / "model.onnx").run({"x0": x}).outputs["y"]
    total = x.sum(axes, keepdims=True, dtype=object)
    count = x.size // total.size
    exact = [int(abs(v) // count) * (1 if v >= 0 else -1) for v in total.reshape(-1)]
    assert found.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(found.reshape(-1), np.array(exact, dtype))


@pytest.mark.sample(4)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("direction", ["LEFT", "RIGHT"])
def test_shifts_by_the_width_or_more_leave_nothing_or_the_sign(tmp_path: Path, dtype: str, direction: str) -> None:
    bits = 8 * np.dtype(dtype).itemsize
    amounts = [0, 1, bits - 1, bits, bits + 1, 100, *([-1, -100] if dtype.startswith("i") else [])]
    values = [5, np.iinfo(dtype).max, np.iinfo(dtype).min, *([-1] if dtype.startswith("i") else [])]
    x = np.array([v for v in values for _ in amounts], dtype)
    by = np.array(amounts * len(values), dtype)
    onnx.save(node_model("BitShift", [x, by], direction=direction), tmp_path / "model.onnx")
    found = tvm_pulp.compile(tmp_path / "model.onnx").run({"x0": x, "x1": by}).outputs["y"]
    np.testing.assert_array_equal(found, np.left_shift(x, by) if direction == "LEFT" else np.right_shift(x, by))


@pytest.mark.parametrize("dtype", ["uint8", "uint64"])
def test_sign_of_unsigned_numbers(tmp_path: Path, dtype: str) -> None:
    x = np.array([0, 1, 77, np.iinfo(dtype).max], dtype)
    onnx.save(node_model("Sign", [x]), tmp_path / "model.onnx")
    np.testing.assert_array_equal(tvm_pulp.compile(tmp_path / "model.onnx").run({"x0": x}).outputs["y"], np.sign(x))


def test_smallest_integer_begins_a_maximum(tmp_path: Path) -> None:
    """C has no literal of the smallest 64-bit integer."""
    x = np.array([[np.iinfo("int64").min, -5, -7]], np.int64)
    onnx.save(node_model("ReduceMax", [x], {"axes": np.array([1])}), tmp_path / "model.onnx")
    np.testing.assert_array_equal(tvm_pulp.compile(tmp_path / "model.onnx").run({"x0": x}).outputs["y"], [[-5]])


_TAKES_NO_BYTES = ("MatMul", "ReduceMean")


@pytest.mark.parametrize("operator", ["Add", "Sub", "Mul", "Concat", *_TAKES_NO_BYTES])
@pytest.mark.parametrize("declared", [TensorProto.INT32, TensorProto.INT8])
def test_files_that_declare_integers_are_of_the_dialect_where_onnx_has_none(operator: str, declared: int) -> None:
    """ONNX adds bytes, which wrap; it multiplies no matrices of bytes, which the dialect sums up in 32 bits."""
    x = np.zeros((4, 4), helper.tensor_dtype_to_np_dtype(declared))
    count = 1 if operator == "ReduceMean" else 2
    model = node_model(operator, [x] * count, **({"axis": 0} if operator == "Concat" else {}))
    excluded = declared == TensorProto.INT8 and operator in _TAKES_NO_BYTES
    assert import_onnx_graph(from_model(model), ImportOptions()).dialect == ("pulp" if excluded else "float")


def test_files_that_declare_floats_are_of_the_dialect_where_the_user_says_integers() -> None:
    model = node_model("Add", [np.zeros((4, 4), np.float32)] * 2)
    options = ImportOptions(input_types={"x0": "int8", "x1": "int8"})
    assert import_onnx_graph(from_model(model), options).dialect == "pulp"
    assert import_onnx_graph(from_model(model), ImportOptions()).dialect == "float"


def test_products_of_matrices_wrap_and_are_shared_by_the_cores(tmp_path: Path) -> None:
    a, b = _random("int32", 2, 4, 9), _random("int32", 9, 5)
    onnx.save(node_model("MatMul", [a, b]), tmp_path / "model.onnx")
    ran = tvm_pulp.compile(tmp_path / "model.onnx", **SIMULATED).run({"x0": a, "x1": b})
    np.testing.assert_array_equal(ran.outputs["y"], a @ b)
    assert [layer["op"] for layer in ran.report["layers"]] == ["matmul"]
