"""Integer multipliers that round as single precision does."""

import numpy as np
import pytest

from tvm_pulp.qnn.real import round_within
from uma_backends.ita.float_rounding import rounding_like


@pytest.mark.parametrize("seed", range(20))
def test_every_sum_is_rounded_alike(seed: int) -> None:
    random = np.random.default_rng(seed)
    low = int(random.integers(-255, 1))
    high = low + 255
    # Powers of two have ties, which go to even numbers.
    real = 2.0 ** -int(random.integers(4, 11)) if seed % 4 == 0 else random.uniform(0.001, 0.02)
    factor = float(np.float32(real))
    found = rounding_like(factor, low, high)
    assert found is not None
    reach = round(300 / factor)
    sums = np.arange(-reach, reach + 1)
    expected = round_within(sums.astype(np.float32) * np.float32(factor), low, high)
    np.testing.assert_array_equal(np.clip(found.apply(sums), low, high), expected)


@pytest.mark.parametrize("factor", [0.0078, 0.0071, 0.007332624867558479])
def test_ties_of_single_precision(factor: float) -> None:
    """2500 times 0.0078 is a tie there, though 0.0078 has no short binary fraction: rounded twice here as well."""
    factor = float(np.float32(factor))
    found = rounding_like(factor, -138, 117)
    assert found is not None and found.fraction
    sums = np.arange(-60_000, 60_001)
    expected = round_within(sums.astype(np.float32) * np.float32(factor), -138, 117)
    np.testing.assert_array_equal(np.clip(found.apply(sums), -138, 117), expected)


def test_factors_without_such_a_multiplier() -> None:
    """Sums beyond 2^24 are no whole numbers in single precision; a factor has to be positive."""
    for factor in (1e-7, -0.01, 0.0):
        assert rounding_like(factor, -128, 127) is None
