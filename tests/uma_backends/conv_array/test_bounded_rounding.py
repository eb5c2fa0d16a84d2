"""Two results of the array enclose the framework's for every accumulator, and seldom differ."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.uma_backends.conv_array.test_exact_rounding import CHANNELS, random_layer
from tvm_pulp.qnn.requant import Requant
from uma_backends.conv_array.arithmetic.bounded_rounding import Bounds, bound_rounding
from uma_backends.conv_array.arithmetic.folded_rounding import Reach


def bound(bounds: Bounds, summand: np.ndarray, acc: np.ndarray, rule: Requant, channel: int) -> np.ndarray:
    """What the array makes of accumulators: nothing leaves 32 bits."""
    product = acc * bounds.scale[channel]
    total = product + summand[channel]
    assert max(np.abs(product).max(), np.abs(total).max()) < 1 << 31
    return np.clip(total >> bounds.shift[channel], rule.low, rule.high)


@pytest.mark.parametrize("kind", ["tflite", "half_up", "half_even"])
@settings(max_examples=10)
@given(seed=st.integers(0, 10_000))
def test_every_accumulator_lies_between_its_bounds(kind: str, seed: int) -> None:
    rule, first, second, reach, bias = random_layer(kind, seed, relu=False)
    bounds = bound_rounding(rule, first, second, reach, bias)
    assert bounds is not None and bounds.scale.min() > 0 and bounds.scale.max() < 1 << 32
    for channel in range(CHANNELS):
        acc = np.arange(reach.low[channel], reach.high[channel] + 1)
        expected = rule.apply((acc + bias[channel])[:, None], [first[[channel]], second[[channel]]])[:, 0]
        low, high = (bound(bounds, end, acc, rule, channel) for end in (bounds.low, bounds.high))
        assert (low <= expected).all() and (expected <= high).all()
        # Of a whole range of results so many are open as was said, within one step at either end.
        inside = (expected > rule.low) & (expected < rule.high)
        share = (bounds.high[channel] - bounds.low[channel]) / 2.0 ** bounds.shift[channel]
        assert (low != high).sum() <= share * inside.sum() + 2 * (rule.high - rule.low)


def test_summands_are_as_close_as_can_be() -> None:
    """One less of a distance, on either side, and some accumulator is outside."""
    rule, first, second, reach, bias = random_layer("half_even", 3, relu=False)
    bounds = bound_rounding(rule, first, second, reach, bias)
    assert bounds is not None
    for channel in range(CHANNELS):
        acc = np.arange(reach.low[channel], reach.high[channel] + 1)
        expected = rule.apply((acc + bias[channel])[:, None], [first[[channel]], second[[channel]]])[:, 0]
        assert (bound(bounds, bounds.low + 1, acc, rule, channel) > expected).any()
        assert (bound(bounds, bounds.high - 1, acc, rule, channel) < expected).any()


def test_a_channel_that_never_changes_is_never_open() -> None:
    rule, multiplier, shift = Requant("half_up", 0, -128, -128, 127), np.array([1769675264]), np.array([38])
    reach, bias = Reach(np.array([-153510]), np.array([0])), np.array([-430])
    bounds = bound_rounding(rule, multiplier, shift, reach, bias)
    assert bounds is not None and bounds.open_share == 0
    assert (bound(bounds, bounds.low, np.arange(-153510, 1), rule, 0) == -128).all()


def test_accumulators_beyond_32_bits_have_no_bounds() -> None:
    rule, first, second, _, bias = random_layer("half_even", 2, relu=False)
    huge = np.full(CHANNELS, 1 << 31)
    assert bound_rounding(rule, first, second, Reach(-huge, huge), bias) is None
