"""The static bound covers every accumulator, and is tight enough to spare 64 bits."""

from typing import Any

import numpy as np
import pytest
from tvm import relax

from tests.qnn import cases_elementwise, cases_matrix, cases_windows
from tests.qnn.kernel_batch import Case
from tvm_pulp import qnn
from tvm_pulp.canonicalize.accumulator_bound import accumulator_bound, accumulator_interval
from tvm_pulp.qnn import OPERATORS, Requant

GENERATORS = {**cases_elementwise.CASES, **cases_matrix.CASES, **cases_windows.CASES}
BOUNDED = ("conv2d", "dense", "matmul", "mul", "sub", "add", "hardswish", "gelu", "integer_div")


def call_of(case: Case, constants: set[int]) -> Any:
    """The case as a Relax call; operands listed in `constants` are constants, others variables."""
    arguments = [
        relax.const(np.ascontiguousarray(a))
        if i in constants
        else relax.Var(f"x{i}", relax.TensorType(a.shape, str(a.dtype)))
        for i, a in enumerate(case.inputs)
    ]
    return qnn.emit(case.operator, arguments, case.attributes)


def accumulator(case: Case) -> np.ndarray:
    """What the operator would deliver without its requantization."""
    return (
        OPERATORS[case.operator]
        .reference(OPERATORS[case.operator].stated(case.attributes), list(case.inputs))
        .astype(np.int64)
    )


@pytest.mark.parametrize("operator", BOUNDED)
def test_bound_covers_the_accumulator(operator: str) -> None:
    rng = np.random.default_rng(list(operator.encode()))
    checked = 0
    while checked < 60:
        case = GENERATORS[operator](rng)
        rules = [Requant.of(case.attributes, p).operands for p in ("requant_a", "requant_b", "requant")]
        if rules[2] or case.attributes.get("form", "plain") != "plain":
            continue  # keep those that deliver the accumulator itself
        constants = set(range(1 if operator in ("conv2d", "dense") else 2, len(case.inputs)))
        if operator in ("matmul", "sub", "integer_div") and rng.random() < 0.5:
            constants.add(1)
        bound = accumulator_bound(call_of(case, constants))
        assert bound is not None
        assert np.abs(accumulator(case)).max(initial=0) <= bound, str(case)
        checked += 1


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        # |x| <= 128; floor(-128 * 16384 / 400001) = -6.
        ({"operands": 1, "numerator": 16384, "denominator": 400_001}, 6),
        ({"operands": 1, "numerator": -3, "denominator": 1}, 385),
        # The divisor is 10..2560: one sign, smallest at an end.
        ({"operands": 2, "numerator": 100, "eta": 10, "eps": 10}, 1281),
        # The divisor may be zero: nothing is known but that it is an integer.
        ({"operands": 2, "numerator": 100, "eta": 1, "eps": -3}, 12801),
    ],
)
def test_integer_division(attributes: dict[str, Any], expected: int) -> None:
    inputs = [np.zeros((4,), np.int8), np.zeros((4,), np.uint8)][: attributes["operands"]]
    case = Case("integer_div", {**attributes, "requant": "none"}, inputs)
    assert accumulator_bound(call_of(case, set())) == expected


@pytest.mark.parametrize("operator", ["mul", "matmul", "add"])
def test_interval_covers_the_accumulator(operator: str) -> None:
    rng = np.random.default_rng([*operator.encode(), 1])
    checked = 0
    while checked < 60:
        case = GENERATORS[operator](rng)
        # Without its rounding a sum of 64 bits has nowhere to go.
        if case.attributes.get("form", "tflite") != "tflite" or case.attributes.get("sum_bits", 32) > 32:
            continue
        kept = {k: v for k, v in case.attributes.items() if not k.startswith("requant")}
        plain = (
            {"requant": "none", "requant_a": "none", "requant_b": "none"} if operator == "add" else {"requant": "none"}
        )
        bare = Case(operator, {**kept, **plain}, list(case.inputs[:2]))
        low, high = accumulator_interval(call_of(bare, {1} if rng.random() < 0.5 else set()))
        found = accumulator(bare)
        assert low[0] <= found.min() and found.max() <= high[0], str(case)
        checked += 1
