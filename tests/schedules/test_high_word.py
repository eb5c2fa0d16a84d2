"""Requantization by the upper half of a product: the rule's result for every sum there can be."""

import numpy as np
import pytest

from schedules.cluster.high_word import fit_high_word
from tvm_pulp.qnn.requant import Requant

CHANNELS = 4


@pytest.mark.parametrize("most_bits", [10, 14, 18])
@pytest.mark.parametrize("seed", range(6))
def test_every_sum_gives_the_rules_result(seed: int, most_bits: int) -> None:
    source = np.random.default_rng(seed)
    low, high = [(-128, 127), (0, 255)][seed % 2]
    rule = Requant("offset_half_even", 0, int(source.integers(low, high + 1)), low, high)
    first = source.integers(1 << 30, (1 << 31) - 1, CHANNELS)
    second = source.integers(-(1 << 24), 1 << 24, CHANNELS) * 64 + 31 + source.integers(1, 14, CHANNELS)
    least, most = source.integers(1 << 8, 1 << most_bits, (2, CHANNELS)) * np.array([[-1], [1]])
    found = fit_high_word(rule, (first, second), least, most)
    assert found is not None
    for channel in range(CHANNELS):
        one, sums = slice(channel, channel + 1), np.arange(least[channel], most[channel] + 1)
        wanted = rule.apply(sums[:, None], [first[one], second[one]])[:, 0]
        np.testing.assert_array_equal(found.apply(sums, channel, (low, high)), wanted)


def test_a_factor_of_zero_has_none() -> None:
    rule, ends = Requant("half_even", 0, 0, -128, 127), np.array([500])
    assert fit_high_word(rule, (np.array([0]), np.array([31])), -ends, ends) is None
