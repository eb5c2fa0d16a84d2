"""Functions of a byte as a product and a shift: equal for every byte, or not at all."""

import numpy as np
import pytest

from schedules.byte_functions import PairScale, find_pair_scale

EVERY = np.arange(256)


@pytest.mark.parametrize("mul", [1, 37, 127, 128, 201, 255])
@pytest.mark.parametrize("shift", [8, 9, 11])
def test_multipliers_of_eight_bits_are_found(mul: int, shift: int) -> None:
    """As a signed byte is scaled and rounded: raised to numbers from zero on."""
    wanted = ((EVERY - 128) * mul + (1 << (shift - 1))) >> shift
    found = find_pair_scale(wanted - wanted.min())
    assert found is not None
    assert ((EVERY * found.mul + found.add) >> found.shift == wanted - wanted.min()).all()
    assert (EVERY * found.mul + found.add).max() < 1 << 16


def test_what_stays_needs_no_product() -> None:
    assert find_pair_scale(EVERY) == PairScale()


@pytest.mark.parametrize("wanted", [np.minimum(EVERY * 2, 255), EVERY[::-1], EVERY - 1, EVERY**2 >> 8])
def test_others_are_refused(wanted: np.ndarray) -> None:
    """Saturation, falling functions, numbers that no byte holds, curves."""
    assert find_pair_scale(wanted) is None
