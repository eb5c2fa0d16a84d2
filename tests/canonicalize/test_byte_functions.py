"""Functions of one byte become tables, chains of them one table, and no value changes."""

import numpy as np
import pytest

from tests.canonicalize.small_modules import build, operators, requantize, scalar
from tvm_pulp.canonicalize.byte_functions import ByteFunctions
from tvm_pulp.qnn.interpret import interpret
from tvm_pulp.qnn.requant import Requant

EVERY = np.arange(-128, 128, dtype=np.int8).reshape(4, 64)


def test_chain_becomes_one_table() -> None:
    """Two requantizations in a row are one lookup with the same 256 results."""
    module = build({"x": ((4, 64), "int8")}, lambda emit, x: [requantize(emit, requantize(emit, x, 300, 7), -120, 99)])
    done = ByteFunctions().run(module)
    assert operators(done) == ["lookup"]
    np.testing.assert_array_equal(interpret(done, [EVERY])[0], interpret(module, [EVERY])[0])


def test_value_with_two_readers_stays() -> None:
    """The first table is an output too, so it cannot disappear."""

    def body(emit, x):  # type: ignore[no-untyped-def]
        first = requantize(emit, x, 300, 7)
        return [first, requantize(emit, first, -120, 99)]

    module = build({"x": ((4, 64), "int8")}, body)
    done = ByteFunctions().run(module)
    assert operators(done) == ["lookup", "lookup"]
    for a, b in zip(interpret(done, [EVERY]), interpret(module, [EVERY]), strict=True):
        np.testing.assert_array_equal(a, b)


def test_wide_input_is_left_alone() -> None:
    """A 32-bit value has no table of 256 entries."""
    module = build({"x": ((4, 64), "int32")}, lambda emit, x: [requantize(emit, x, 3, 7)])
    assert operators(ByteFunctions().run(module)) == ["requantize"]


_SUM = {
    "form": "tflite", "requant_a": "none", "requant_b": "none", "multipliers": [1 << 30, 1518500250],
    "exponents": [0, -3], "subtract": 1, "left_shift": 20,
}  # fmt: skip


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize(("operator", "own", "factor"), [("add", _SUM, (1 << 30, -18)), ("mul", {}, (1 << 30, -4))])
def test_numbers_on_either_side(place: int, operator: str, own: dict[str, object], factor: tuple[int, int]) -> None:
    """A difference of TFLite with a number, and a product with one, followed by another function: one table."""
    rule = Requant("tflite", 0, 4, -128, 127)
    attributes = {**own, "zero_point_a": -7, "zero_point_b": 12, **rule.attributes()}

    def body(emit, x):  # type: ignore[no-untyped-def]
        pair = [x, np.array([[55]], np.int8)]
        made = emit(operator, [pair[place], pair[1 - place], *map(scalar, factor)], attributes)
        return [requantize(emit, made, -120, 99)]

    module = build({"x": ((4, 64), "int8")}, body)
    done = ByteFunctions().run(module)
    assert operators(done) == ["lookup"]
    np.testing.assert_array_equal(interpret(done, [EVERY])[0], interpret(module, [EVERY])[0])


def test_a_number_of_more_axes_is_left_alone() -> None:
    """The result has more axes than the byte's tensor."""
    attributes = {**Requant("tflite", 0, 4, -128, 127).attributes(), "zero_point_a": 0, "zero_point_b": 0}
    number = np.array([[[5]]], np.int8)
    module = build(
        {"x": ((4, 64), "int8")}, lambda emit, x: [emit("mul", [x, number, scalar(1 << 30), scalar(-4)], attributes)]
    )
    assert operators(ByteFunctions().run(module)) == ["mul"]
