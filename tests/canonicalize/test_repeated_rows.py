"""Smaller operands of sums and products become rows of the result, or have its shape; no value changes."""

from typing import Any

import numpy as np
import pytest

from tests.canonicalize.small_modules import PULP, build, operators, scalar
from tvm_pulp import qnn
from tvm_pulp.canonicalize.repeated_rows import RepeatedRows
from tvm_pulp.qnn.interpret import interpret
from tvm_pulp.qnn.lineage import bindings_of
from tvm_pulp.qnn.operator import spec_of

RNG = np.random.default_rng(5)
SUM = {"form": "plain", "requant_a": "none", "requant_b": "none", **PULP.attributes()}
PRODUCT = {"zero_point_a": 3, "zero_point_b": -2, **PULP.attributes()}


def shapes_of(module: Any) -> list[list[tuple[int, ...]]]:
    """Shapes of the two operands of every call of the dialect."""
    values = [b.value for b in bindings_of(module["main"])]
    return [[spec_of(a).shape for a in v.args[:2]] for v in values if qnn.is_qnn(v)]


def random_bytes(shape: tuple[int, ...]) -> np.ndarray:
    return RNG.integers(-128, 128, shape).astype(np.int8)


@pytest.mark.parametrize(("name", "attributes"), [("add", SUM), ("mul", PRODUCT)])
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize(
    ("large", "small", "is_constant", "wanted"),
    [
        ((4, 3, 5, 6), (3, 5, 6), True, ((4, 90), (90,))),  # a bias of the heads of all windows
        ((4, 3, 5, 6), (1, 1, 5, 6), False, ((12, 30), (30,))),
        ((1, 3, 5, 6), (3, 5, 6), False, ((1, 3, 5, 6), (1, 3, 5, 6))),  # only its rank differs
        ((1, 8, 5, 5), (8, 1, 1), True, ((1, 8, 5, 5), (1, 8, 5, 5))),  # written out
        ((2, 8, 5, 5), (8, 1, 1), True, ((2, 200), (200,))),
        ((2, 8, 5, 5), (8, 1, 1), False, None),  # no constant
        ((1, 32, 32, 9), (32, 1, 1), True, None),  # too much to write out
        ((2, 5, 6), (6,), True, None),  # a row already
        ((2, 5, 6), (1, 1, 6), False, None),
        ((2, 5, 6), (2, 5, 6), False, None),
        ((2, 5, 6), (1,), True, None),
        ((2, 1, 6), (1, 5, 6), False, None),  # both are repeated
    ],
)
def test_operands(  # type: ignore[no-untyped-def]
    name, attributes, swapped, large, small, is_constant, wanted
) -> None:
    kept = random_bytes(small)
    inputs = {"a": (large, "int8"), **({} if is_constant else {"b": (small, "int8")})}

    def body(emit, a, b=kept):  # type: ignore[no-untyped-def]
        pair = [b, a] if swapped else [a, b]
        return [emit(name, [*pair, scalar(77), scalar(128)], attributes)]

    module = build(inputs, body)
    done = RepeatedRows().run(module)
    if wanted is None:
        assert operators(done) == operators(module)
        assert shapes_of(done) == shapes_of(module)
    else:
        assert shapes_of(done) == [list(wanted[::-1] if swapped else wanted)]
    data = [random_bytes(large), *([] if is_constant else [kept])]
    for made, expected in zip(interpret(done, data), interpret(module, data), strict=True):
        assert made.shape == expected.shape
        np.testing.assert_array_equal(made, expected)


def test_constants_by_channel_stay() -> None:
    def body(emit, a):  # type: ignore[no-untyped-def]
        by_channel = [np.arange(6, dtype=np.int32), np.zeros(6, np.int32)]
        return [emit("mul", [a, random_bytes((5, 6)), *by_channel], PRODUCT)]

    module = build({"a": ((2, 5, 6), "int8")}, body)
    assert operators(RepeatedRows().run(module)) == ["mul"]
