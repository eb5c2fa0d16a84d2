"""A product and a constant row as one region: found, right for every accumulator, refused where it would not be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uma_backends.neureka.added_row import BYTES, find_added_row


def rounded_sum(channels: int, seed: int) -> tuple[np.ndarray, float]:
    """Results of an ONNX sum of bytes and a constant for every channel, rounded half to even."""
    source = np.random.default_rng(seed)
    slope, zeros = float(source.uniform(0.1, 2.0)), source.integers(-100, 100, 2)
    row = source.integers(-128, 128, (channels, 1)) * source.uniform(0.0, 1.0)
    return np.clip(np.rint((BYTES[None] - zeros[0]) * slope + row) + zeros[1], -128, 127), slope


@settings(max_examples=30)
@given(st.integers(0, 10_000))
def test_every_byte_of_every_channel_is_right(seed: int) -> None:
    expected, slope = rounded_sum(64, seed)
    row = find_added_row(expected, slope)
    assert row is not None
    total = BYTES[None] * row.mul + row.add[:, None]
    assert np.abs(total).max() < 1 << 31
    np.testing.assert_array_equal(np.clip(total >> row.shift, -128, 127), expected)


def test_what_is_no_line_is_refused() -> None:
    """A table with a jump has no slope."""
    assert find_added_row(np.where(BYTES < 0, -100, 100)[None], 0.5) is None


@pytest.mark.parametrize("channels", [1, 5])
def test_a_channel_that_is_always_clipped_needs_nothing(channels: int) -> None:
    row = find_added_row(np.full((channels, 256), 127), 0.5)
    assert row is not None
    assert ((BYTES[None] * row.mul + row.add[:, None]) >> row.shift >= 127).all()
