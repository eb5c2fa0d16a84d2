"""Functions of one byte become tables, chains of them one table, and no value changes."""

import numpy as np

from tests.canonicalize.small_modules import build, operators, requantize
from tvm_pulp.canonicalize.byte_functions import ByteFunctions
from tvm_pulp.qnn.interpret import interpret

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
