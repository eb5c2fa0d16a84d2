"""Roundings of few sums by a product, a sum and a shift: the same numbers for every sum, or none at all."""

import numpy as np
import pytest

from tvm_pulp.qnn.exact_shift import exact_shift
from tvm_pulp.qnn.fixed_point import single_rounding_multipliers
from tvm_pulp.qnn.requant import Requant


@pytest.mark.parametrize("kind", ["half_up", "half_even"])
@pytest.mark.parametrize("seed", range(4))
def test_every_sum_gives_the_same(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts, ratio = np.arange(10), rng.uniform(0.6, 1.4)
    operands = single_rounding_multipliers(ratio / np.maximum(counts, 1))
    rule = Requant(kind, 0, int(rng.integers(-20, 20)), -128, 127)
    least, most = counts * -130, counts * 125
    found = exact_shift(rule, operands, least, most)
    assert found is not None
    multipliers, summands, shift = found
    for i in counts:
        sums = np.arange(least[i], most[i] + 1)
        products = sums * int(multipliers[i]) + int(summands[i])
        assert np.abs(products).max() < 1 << 31
        wanted = rule.apply(sums, [np.full(sums.shape, o[i]) for o in operands])
        np.testing.assert_array_equal(np.clip(products >> shift, -128, 127), wanted)


def test_ties_that_go_both_ways_have_none() -> None:
    half = single_rounding_multipliers(np.array([0.5]))
    ends = np.array([-100]), np.array([100])
    assert exact_shift(Requant("half_even", 0, 0, -128, 127), half, *ends) is None
    assert exact_shift(Requant("half_up", 0, 0, -128, 127), half, *ends) is not None
    assert exact_shift(Requant("tflite", 0, 0, -128, 127), half, *ends) is None
