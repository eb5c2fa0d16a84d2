"""Division in emitted C rounds down, whatever the signs; C's own operators only where nothing is negative."""

import ctypes
from pathlib import Path

import numpy as np
import pytest
from tvm import tirx

from tvm_pulp.codegen.c_expression import Expressions
from tvm_pulp.toolchain import build_host_library

FUNCTIONS = {
    "floor_divide_32": ("int32", "int32"),
    "floor_modulo_32": ("int32", "int32"),
    "floor_divide_64": ("int64", "int64"),
    "floor_modulo_64": ("int64", "int64"),
    "floor_divide": ("int64", "int32"),
}


@pytest.fixture(scope="module")
def library(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    lines = ['#include "tvm_pulp/integer.h"']
    for name, (kind, result) in FUNCTIONS.items():
        head = f"void map_{name}(const {kind}_t *a, const {kind}_t *b, {result}_t *y, int32_t n)"
        lines += [f"{head};", f"{head} {{ for (int32_t i = 0; i < n; i++) y[i] = tvm_pulp_{name}(a[i], b[i]); }}"]
    driver = tmp_path_factory.mktemp("division") / "driver.c"
    driver.write_text("\n".join([*lines, ""]))
    return ctypes.CDLL(str(build_host_library([driver], [repository / "c_runtime" / "include"], sanitize=True)))


def operands(kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Small numbers in all pairs of signs, and the ends of the type; quotients that do not fit are left out."""
    small, ends = np.arange(-13, 14), np.array([np.iinfo(kind).min, np.iinfo(kind).max, 1 << 30, -(1 << 30)])
    a, b = (
        m.reshape(-1).astype(kind) for m in np.meshgrid(np.concatenate([small, ends]), np.concatenate([small, ends]))
    )
    good = (b != 0) & ~((a == np.iinfo(kind).min) & (b == -1))
    return a[good], b[good]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_functions_equal_numpy(library: ctypes.CDLL, name: str) -> None:
    kind, result = FUNCTIONS[name]
    a, b = operands(kind)
    expected = np.mod(a, b) if "modulo" in name else np.floor_divide(a, b)
    fits = (expected >= np.iinfo(result).min) & (expected <= np.iinfo(result).max)
    a, b, expected = a[fits].copy(), b[fits].copy(), expected[fits]
    made = np.zeros(len(a), result)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (a, b, made)]
    getattr(library, f"map_{name}")(*pointers, ctypes.c_int32(len(a)))
    np.testing.assert_array_equal(made, expected)


def printed(a: object, b: object, operation: str) -> str:
    names = {"i": "i", "x": "x"}
    return Expressions(lambda e: names.get(getattr(e, "name", ""), "buffer")).text(getattr(tirx, operation)(a, b))


@pytest.mark.parametrize(("operation", "operator"), [("FloorDiv", "/"), ("FloorMod", "%")])
def test_indices_take_the_operators_of_c(operation: str, operator: str) -> None:
    i = tirx.Var("i", "int32")
    assert printed(i * 4 + 3, tirx.const(8, "int32"), operation) == f"(i * 4 + 3) {operator} 8"


@pytest.mark.parametrize(("operation", "name"), [("FloorDiv", "divide"), ("FloorMod", "modulo")])
def test_what_may_be_negative_takes_the_functions(operation: str, name: str) -> None:
    i = tirx.Var("i", "int32")
    assert printed(i - 3, tirx.const(8, "int32"), operation) == f"tvm_pulp_floor_{name}_32(i - 3, 8)"
    assert printed(i, tirx.const(-8, "int32"), operation) == f"tvm_pulp_floor_{name}_32(i, -8)"
    wide = tirx.Var("x", "int64")
    assert (
        printed(wide - 3, tirx.const(8, "int64"), operation) == f"tvm_pulp_floor_{name}_64(x - INT64_C(3), INT64_C(8))"
    )


def test_unsigned_words_are_never_negative() -> None:
    x, eight = tirx.Var("x", "uint32"), tirx.const(8, "uint32")
    assert printed(x - eight, eight, "FloorDiv") == "(x - 8u) / 8u"
