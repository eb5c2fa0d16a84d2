"""Rows and columns of an image are picked at once, and no value changes."""

from typing import Any

import numpy as np
import pytest

from tests.canonicalize.small_modules import build, operators
from tvm_pulp.canonicalize.fuse_gathers import FuseGathers
from tvm_pulp.qnn.interpret import interpret

ROWS, COLUMNS = np.array([0, 0, 1, 2, 2], np.int32), np.array([3, 1, 1], np.int32)
INPUTS = {"x": ((2, 3, 4, 5), "int8")}
DATA = [np.random.default_rng(1).integers(-128, 128, (2, 3, 4, 5)).astype(np.int8)]


def check(module: Any, expected: list[str]) -> None:
    done = FuseGathers().run(module)
    assert operators(done) == expected
    for a, b in zip(interpret(done, DATA), interpret(module, DATA), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("rows_first", [True, False])
def test_rows_and_columns_are_one_operator(rows_first: bool) -> None:
    def body(emit, x):  # type: ignore[no-untyped-def]
        picks = [(ROWS, 1), (COLUMNS, 2)] if rows_first else [(COLUMNS, 2), (ROWS, 1)]
        for indices, axis in picks:
            x = emit("gather", [x, indices], {"axis": axis})
        return [x]

    check(build(INPUTS, body), ["resize"])


def test_channels_are_something_else() -> None:
    def body(emit, x):  # type: ignore[no-untyped-def]
        return [emit("gather", [emit("gather", [x, ROWS], {"axis": 1}), COLUMNS], {"axis": 3})]

    check(build(INPUTS, body), ["gather", "gather"])


def test_picked_rows_with_another_reader_stay() -> None:
    def body(emit, x):  # type: ignore[no-untyped-def]
        rows = emit("gather", [x, ROWS], {"axis": 1})
        return [rows, emit("gather", [rows, COLUMNS], {"axis": 2})]

    check(build(INPUTS, body), ["gather", "gather"])
