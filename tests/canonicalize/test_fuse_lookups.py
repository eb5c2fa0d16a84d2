"""Tables move into concatenations, tables that change nothing disappear, and no value changes."""

from typing import Any

import numpy as np
import pytest

from tests.canonicalize.small_modules import build, operators
from tvm_pulp import qnn
from tvm_pulp.canonicalize.fuse_lookups import FuseLookups
from tvm_pulp.qnn.interpret import interpret

TABLE = np.random.default_rng(1).integers(-128, 128, 256).astype(np.int8)
SAME = np.arange(-128, 128).astype(np.int8)
INPUTS = {"past": ((2, 5, 4), "int8"), "x": ((2, 1, 4), "int8")}
DATA = [np.random.default_rng(2).integers(-128, 128, shape).astype(np.int8) for shape, _ in INPUTS.values()]


def check(module: Any, expected: list[str], data: list[np.ndarray] = DATA) -> Any:
    done = FuseLookups().run(module)
    assert operators(done) == expected
    for a, b in zip(interpret(done, data), interpret(module, data), strict=True):
        np.testing.assert_array_equal(a, b)
    return done


def test_a_table_moves_into_the_concatenation() -> None:
    def body(emit, past, x):  # type: ignore[no-untyped-def]
        return [emit("concat", [past, emit("lookup", [x, TABLE])], {"axis": 1})]

    done = check(build(INPUTS, body), ["concat"])
    call = done["main"].body.blocks[0].bindings[0].value
    assert list(qnn.attributes(call)["tables"]) == [1]


def test_both_parts_may_have_tables() -> None:
    def body(emit, past, x):  # type: ignore[no-untyped-def]
        parts = [emit("lookup", [past, TABLE[::-1].copy()]), emit("lookup", [x, TABLE])]
        return [emit("concat", parts, {"axis": 1})]

    check(build(INPUTS, body), ["concat"])


def test_a_result_with_another_reader_stays() -> None:
    def body(emit, past, x):  # type: ignore[no-untyped-def]
        looked_up = emit("lookup", [x, TABLE])
        return [emit("concat", [past, looked_up], {"axis": 1}), looked_up]

    check(build(INPUTS, body), ["lookup", "concat"])


def test_a_table_that_keeps_values_disappears() -> None:
    def body(emit, past, x):  # type: ignore[no-untyped-def]
        return [emit("concat", [past, emit("lookup", [x, SAME])], {"axis": 1})]

    done = check(build(INPUTS, body), ["concat"])
    assert qnn.attributes(done["main"].body.blocks[0].bindings[0].value)["tables"] == []


PULP = {"zero_point_a": 0, "zero_point_b": 0, **qnn.Requant("pulp", 16, 0, -128, 127, wide=False).attributes()}
SCALE = [np.array([1271], np.int32), np.array([1 << 15], np.int32)]
ALIKE = {"a": ((2, 5, 4), "int8"), "b": ((2, 5, 4), "int8")}


@pytest.mark.parametrize("turned", [False, True])
def test_a_table_moves_into_the_product(turned: bool) -> None:
    def body(emit, a, b):  # type: ignore[no-untyped-def]
        sides = [emit("lookup", [a, TABLE]), b]
        return [emit("mul", [*(sides[::-1] if turned else sides), *SCALE], PULP)]

    check(build(ALIKE, body), ["gate"], [DATA[0], DATA[0][::-1].copy()])


def test_a_product_with_zero_points_keeps_its_table_apart() -> None:
    def body(emit, a, b):  # type: ignore[no-untyped-def]
        return [emit("mul", [emit("lookup", [a, TABLE]), b, *SCALE], {**PULP, "zero_point_b": 3})]

    check(build(ALIKE, body), ["lookup", "mul"], [DATA[0], DATA[0][::-1].copy()])
