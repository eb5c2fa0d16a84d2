"""Quantizations take in what only moves their results; values stay."""

from typing import Any

import numpy as np
from tvm import relax

from tests.canonicalize.small_modules import build, operators
from tvm_pulp.planning.lowering.join_quantize import JoinQuantize
from tvm_pulp.qnn.interpret import interpret

RANDOM = np.random.Generator(np.random.PCG64(3))
SCALE = np.array([0.05], np.float32)
NUMBERS = [SCALE, (1 / SCALE).astype(np.float32), np.array([3], np.int8)]


def quantize(emit: Any, x: Any) -> Any:
    return emit("quantize", [x, *NUMBERS], {"axis": 0, "dtype": "int8"})


def joined(module: Any, values: list[np.ndarray]) -> list[str]:
    """Operators after the pass, which must not change a value."""
    done = JoinQuantize().run(module)
    for found, expected in zip(interpret(done, values), interpret(module, values), strict=True):
        np.testing.assert_array_equal(found, expected)
    return operators(done)


def floats(*shape: int) -> np.ndarray:
    return RANDOM.normal(0, 4, shape).astype(np.float32)


def test_channels_come_last_at_once() -> None:
    def body(emit, x):  # type: ignore[no-untyped-def]
        return [emit("transpose", [quantize(emit, x)], {"axes": [0, 2, 3, 1]})]

    assert joined(build({"x": ((1, 3, 4, 5), "float32")}, body), [floats(1, 3, 4, 5)]) == ["quantize_channels_last"]


def test_other_permutations_stay() -> None:
    def body(emit, x):  # type: ignore[no-untyped-def]
        return [emit("transpose", [quantize(emit, x)], {"axes": [0, 2, 1, 3]})]

    assert joined(build({"x": ((1, 3, 4, 5), "float32")}, body), [floats(1, 3, 4, 5)]) == ["quantize", "transpose"]


def test_what_is_read_twice_stays() -> None:
    def body(emit, x):  # type: ignore[no-untyped-def]
        made = quantize(emit, x)
        return [emit("transpose", [made], {"axes": [0, 2, 1]}), made]

    assert joined(build({"x": ((1, 3, 4), "float32")}, body), [floats(1, 3, 4)]) == ["quantize", "transpose"]


def test_new_rows_are_taken_where_they_lie() -> None:
    """A part of a packed projection in one piece, looked up on its way."""
    table = RANDOM.integers(-128, 128, 256).astype(np.int8)

    def body(emit, past, packed):  # type: ignore[no-untyped-def]
        part = emit("slice", [packed], {"begin": [0, 0, 8], "size": [1, 1, 8], "stride": [1, 1, 1]})
        rows = relax.op.reshape(part, (1, 2, 1, 4))
        return [emit("concat", [quantize(emit, past), rows, table], {"axis": 2, "tables": [1]})]

    module = build({"past": ((1, 2, 3, 4), "float32"), "packed": ((1, 1, 24), "int8")}, body)
    packed = RANDOM.integers(-128, 128, (1, 1, 24)).astype(np.int8)
    assert joined(module, [floats(1, 2, 3, 4), packed]) == ["append_quantized"]


def test_a_scattered_part_stays_a_slice() -> None:
    """Columns of several rows do not lie in one piece."""

    def body(emit, past, packed):  # type: ignore[no-untyped-def]
        part = emit("slice", [packed], {"begin": [0, 0, 4], "size": [1, 2, 4], "stride": [1, 1, 1]})
        return [emit("concat", [quantize(emit, past), part], {"axis": 1})]

    module = build({"past": ((1, 3, 4), "float32"), "packed": ((1, 2, 12), "int8")}, body)
    packed = RANDOM.integers(-128, 128, (1, 2, 12)).astype(np.int8)
    assert joined(module, [floats(1, 3, 4), packed]) == ["slice", "append_quantized"]


def test_floats_behind_stay_a_concatenation() -> None:
    """Only what comes first is a cache."""

    def body(emit, past, rows):  # type: ignore[no-untyped-def]
        return [emit("concat", [rows, quantize(emit, past)], {"axis": 1})]

    module = build({"past": ((1, 3, 4), "float32"), "rows": ((1, 2, 4), "int8")}, body)
    rows = RANDOM.integers(-128, 128, (1, 2, 4)).astype(np.int8)
    assert joined(module, [floats(1, 3, 4), rows]) == ["quantize", "concat"]
