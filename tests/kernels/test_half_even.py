"""Halves to even of 32-bit numbers: channels with halves in both directions beside channels that have none."""

import numpy as np
import pytest

from tests.kernels.call import Call
from tests.kernels.check import check
from tests.kernels.elementwise_cases import shape_fields
from tests.kernels.matrix_cases import Case
from tests.kernels.random_requant import Rule
from tvm_pulp.qnn.operator import OPERATORS
from tvm_pulp.qnn.requant import Requant


# One row has no pair, nine leave a last one; a range that one instruction clips, and one that takes two.
@pytest.mark.parametrize(("rows", "low", "high"), [(9, 0, 255), (8, -128, 127), (1, -128, 127), (6, -100, 50)])
def test_halves_go_both_ways(rows: int, low: int, high: int) -> None:
    rng = np.random.default_rng(rows)
    # The odd multiplier meets no half, the others do; a shift of 53 leaves the loop no room for a zero point.
    mul = np.array([43 << 25, 3 << 29, 1459236491, 1 << 30, 5 << 28], np.int32)
    shift = np.array([39, 38, 39, 53, 34], np.int32)
    odd = 2 * rng.integers(-4, 4, rows) + 1
    x = np.stack([8192 * odd, 256 * odd, rng.integers(-90_000, 90_000, rows), (1 << 22) * odd, 32 * odd], axis=1)
    x = x.astype(np.int32)
    rest = x.astype(object) * mul.astype(object) % (1 << shift.astype(object))
    assert (rest == 1 << shift.astype(object) - 1).sum(axis=0).tolist() == [rows, rows, 0, rows, rows]
    rule = Rule(Requant("half_even", 0, 7 if low == 0 else -3, low, high), (mul, shift))
    attributes = {"zero_point": 0, "axis": 1, **rule.requant.attributes()}
    expected = OPERATORS["requantize"].reference(OPERATORS["requantize"].stated(attributes), [x, *rule.operands])
    fields = {**shape_fields(rows, 5, rule, x=x), "zero_point": 0, "per_row": 0, "lines": 1, "x_line_stride": 0}
    for cores in (1, 3):
        check(Case(Call("requantize", fields), expected, x.size), cores)
