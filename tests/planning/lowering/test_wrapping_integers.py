"""Arithmetic of integer tensors as emitted C, under checks for undefined behaviour: it wraps."""

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper, numpy_helper

import tvm_pulp
from tests.qnn.kernel_batch import INCLUDE
from tvm_pulp.toolchain.build import build_host_library

ROWS, COLUMNS = 3, 5
WIDE = ("int32", "int64")


def values(dtype: str, *shape: int) -> np.ndarray:
    """Of all sizes, the largest and the smallest among them."""
    limits = np.iinfo(dtype)
    made = np.random.default_rng([7, *dtype.encode()]).integers(limits.min, limits.max, shape, dtype, endpoint=True)
    made.flat[0], made.flat[1] = limits.max, limits.min
    return made


def model(dtype: str, number: Any) -> Any:
    """Four operators: of tensors, of a row, of a number, of one operand."""
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    nodes = [
        helper.make_node("Add", ["a", "number"], ["sum"]),
        helper.make_node("Sub", ["row", "a"], ["difference"]),
        helper.make_node("Mul", ["a", "b"], ["product"]),
    ]
    nodes += [helper.make_node("Neg", ["a"], ["negative"])] if dtype in WIDE else []
    inputs = [("a", [ROWS, COLUMNS]), ("b", [ROWS, COLUMNS]), ("row", [COLUMNS])]
    ends = [helper.make_tensor_value_info(n, kind, s) for n, s in inputs]
    results = [helper.make_tensor_value_info(n.output[0], kind, [ROWS, COLUMNS]) for n in nodes]
    graph = helper.make_graph(nodes, "integers", ends, results, [numpy_helper.from_array(number, "number")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


@pytest.mark.sample(2)
@pytest.mark.parametrize("dtype", ["int64", "int8", "uint8", "int16", "uint32", "int32", "uint64", "uint16"])
def test_nothing_is_undefined(dtype: str, tmp_path: Path) -> None:
    a, b, row = values(dtype, ROWS, COLUMNS), values(dtype, ROWS, COLUMNS), values(dtype, COLUMNS)[::-1].copy()
    number = np.array(-3).astype(dtype) if dtype.startswith("int") else np.array(np.iinfo(dtype).max, dtype)
    for name, content in tvm_pulp.compile(model(dtype, number), target="c", soc="siracusa").files.items():
        if Path(name).name.startswith("default_kernels"):
            (tmp_path / Path(name).name).write_bytes(content.encode() if isinstance(content, str) else content)
    source = tmp_path / "default_kernels.c"
    flags = ["-O1", "-Wall", "-Wextra", "-Werror"]
    library = ctypes.CDLL(str(build_host_library([source], [tmp_path, INCLUDE], extra_flags=flags, sanitize=True)))
    with np.errstate(all="ignore"):
        # Kernels hold the number themselves, but for those that no constant of TVM's can be.
        held = [number] if dtype == "int64" else []
        cases = {"add": ([a, *held], a + number), "subtract": ([row, a], row - a), "multiply": ([a, b], a * b)}
        cases |= {"negative": ([a], -a)} if dtype in WIDE else {}
    for name, (operands, expected) in cases.items():
        found = np.empty_like(expected)
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*operands, found)]
        for core in range(2):
            getattr(library, f"tvmgen_default_{name}")(*pointers, ctypes.c_int32(core), ctypes.c_int32(2))
        np.testing.assert_array_equal(found, expected, err_msg=name)
