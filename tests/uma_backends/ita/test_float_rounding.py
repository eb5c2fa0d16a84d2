"""Integer multipliers that round as single precision does."""

from __future__ import annotations

import numpy as np
import pytest

from tvm_pulp.qnn.fixed_point import scale_half_even
from tvm_pulp.qnn.real import round_within
from uma_backends.ita.float_rounding import multiplier_like


@pytest.mark.parametrize("seed", range(20))
def test_every_sum_is_rounded_alike(seed: int) -> None:
    random = np.random.default_rng(seed)
    low = int(random.integers(-255, 1))
    high = low + 255
    # Powers of two have ties, which go to even numbers.
    real = 2.0 ** -int(random.integers(4, 11)) if seed % 4 == 0 else random.uniform(0.001, 0.02)
    factor = float(np.float32(real))
    found = multiplier_like(factor, low, high)
    assert found is not None
    reach = round(300 / factor)
    sums = np.arange(-reach, reach + 1)
    expected = round_within(sums.astype(np.float32) * np.float32(factor), low, high)
    multiplier, shift = (np.asarray(n) for n in found)
    np.testing.assert_array_equal(np.clip(scale_half_even(sums, multiplier, shift), low, high), expected)


def test_factors_without_such_a_multiplier() -> None:
    """Sums beyond 2^24 are no whole numbers in single precision; a factor has to be positive; 2500 times 0.0078 is a
    tie in single precision, so half of such sums are rounded up and half of them down."""
    assert multiplier_like(float(np.float32(0.0078)), -128, 127) is None
    assert multiplier_like(1e-7, -128, 127) is None
    assert multiplier_like(-0.01, -128, 127) is None
    assert multiplier_like(0.0, -128, 127) is None
