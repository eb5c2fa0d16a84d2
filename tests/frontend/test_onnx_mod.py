"""Remainders: C has no operator for those of floats, and its own takes the sign of the dividend."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

import tvm_pulp


def remainder(folder: Path, a: np.ndarray, b: np.ndarray, fmod: int, **target: str) -> np.ndarray:
    kind = helper.np_dtype_to_tensor_dtype(a.dtype)
    inputs = [helper.make_tensor_value_info(name, kind, list(a.shape)) for name in ("a", "b")]
    result = [helper.make_tensor_value_info("y", kind, list(a.shape))]
    graph = helper.make_graph([helper.make_node("Mod", ["a", "b"], ["y"], fmod=fmod)], "remainder", inputs, result)
    path = folder / "mod.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), str(path))
    return tvm_pulp.compile(path, **target).run({"a": a, "b": b}).outputs["y"]


def test_float_remainder_takes_the_sign_of_the_dividend(tmp_path: Path) -> None:
    a = np.array([5.3, -5.3, 7, -7, 2.5, 0.1], np.float32)
    b = np.array([2, 2, -3, -3, 1, 0.3], np.float32)
    np.testing.assert_allclose(remainder(tmp_path, a, b, 1), np.fmod(a, b), rtol=1e-6)


CASES = [*((dtype, {}) for dtype in ("int8", "int32", "int64", "uint8")), ("int32", {"target": "c", "soc": "siracusa"})]


@pytest.mark.parametrize(("dtype", "target"), CASES, ids=str)
def test_integer_remainder_takes_the_sign_of_the_divisor(tmp_path: Path, dtype: str, target: dict[str, str]) -> None:
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    a = np.array([5, 5, 6, 7, low, low, high, high, 0, low + 1], dtype)
    b = np.array([3, 2, 3, high, 3, high, 2, high, 3, 7], dtype)
    if low < 0:
        a, b = np.concatenate([a, -a[:4], -a[:4], a[:4]]), np.concatenate([b, b[:4], -b[:4], -b[:4]])
    np.testing.assert_array_equal(remainder(tmp_path, a, b, 0, **target), np.mod(a, b))
