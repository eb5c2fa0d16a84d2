"""Requantization constants: inside 32 bits, exact in float32, close to the wanted scale."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tvm_pulp.frontend.zoo import calibration
from tvm_pulp.frontend.zoo.integer_math import requantize


@given(
    scales=st.lists(st.floats(1e-5, 0.5), min_size=1, max_size=8),
    offset=st.floats(-200, 200),
    bound=st.integers(1, 1 << 24),
)
def test_every_product_fits_32_bits(scales: list[float], offset: float, bound: int) -> None:
    rule = calibration.fixed_point(np.array(scales), np.full(len(scales), offset), bound, signed=True)
    half = (1 << rule.shift) >> 1
    for mul, add in zip(rule.mul.tolist(), rule.add.tolist(), strict=True):
        assert 1 <= mul == int(np.float32(mul)) and add == int(np.float32(add))
        assert bound * mul + abs(add) + half < 1 << 31


def test_a_larger_shift_would_overflow() -> None:
    # The precision is the best that 32 bits allow: one more bit breaks the bound, unless the cap is reached.
    rule = calibration.fixed_point(np.array([0.004]), np.zeros(1), 4_000_000, signed=True)
    assert rule.shift < calibration.LARGEST_SHIFT
    assert 4_000_000 * round(0.004 * 2 ** (rule.shift + 1)) + (2 << rule.shift) >= 1 << 31


def test_an_accumulator_beyond_32_bits_is_refused() -> None:
    with pytest.raises(ValueError, match="no room for a multiplier"):
        calibration.fixed_point(np.ones(1), np.zeros(1), 1 << 32, signed=True)


def test_channels_are_centred_and_fill_the_range() -> None:
    generator = np.random.default_rng(1)
    acc = np.rint(generator.normal(size=(4, 3, 40, 40)) * [[[[900]], [[50]], [[7000]]]]).astype(np.int64)
    acc += np.array([4000, -60, 0]).reshape(1, 3, 1, 1)
    rule, step = calibration.normalize_channels(acc, np.ones(3), np.zeros(3), int(np.abs(acc).max()), signed=True)
    out = requantize(acc, rule.mul.reshape(3, 1, 1), rule.add.reshape(3, 1, 1), rule.shift, rule.signed)
    assert np.abs(out.mean(axis=(0, 2, 3))).max() < 0.5
    np.testing.assert_allclose(out.std(axis=(0, 2, 3)) * step, 1.0, rtol=0.03)
    assert 0 < np.mean(np.abs(out) >= 127) < 0.002


def test_order_statistic_is_a_member() -> None:
    values = np.arange(1000.0)
    assert calibration.order_statistic(values, 0.999) == 998.0
    assert calibration.order_statistic(values, 1.0) == 999.0
    assert calibration.order_statistic(values[:1], 0.5) == 0.0


def test_silent_data_does_not_divide_by_zero() -> None:
    rule = calibration.scale_to_range(np.zeros((2, 3), np.int64), bound=100, signed=True, headroom=1.0)
    assert rule.mul[0] >= 1
