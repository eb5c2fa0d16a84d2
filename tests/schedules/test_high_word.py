"""Products with an offset, rounded by the upper half of a 32-bit product: the same result for every sum."""

import numpy as np
import pytest

from schedules.cluster.high_word import fit_high_word
from tvm_pulp.qnn.fixed_point import OFFSET_UNIT, pack_offset, single_rounding_multipliers
from tvm_pulp.qnn.requant import Requant

CHANNELS = 12


@pytest.mark.parametrize("limits", [(-128, 127), (0, 255), (-100, 50)])
@pytest.mark.parametrize(
    ("unit", "steps", "is_within"), [(0.3, 90, True), (1 / 100, 300, True), (1 / 5000, 20_000, False)]
)
def test_every_step_stays_where_it_is(unit: float, steps: float, is_within: bool, limits: tuple[int, int]) -> None:
    """`steps`: how far sums reach, in steps of the result: where too far, they are limited first."""
    rng = np.random.default_rng([int(1 / unit), limits[0] + 128])
    mul, shift = (v.astype(np.int64) for v in single_rounding_multipliers(unit * rng.uniform(0.4, 1, CHANNELS)))
    offset = (rng.uniform(-0.5, 0.5, CHANNELS) * mul).astype(np.int64) // OFFSET_UNIT * OFFSET_UNIT
    packed, ends = pack_offset(offset, shift), (rng.uniform(0.5, 1, (2, CHANNELS)) * steps / unit).astype(np.int64)
    rule = Requant("offset_half_even", 0, -3, *limits)
    found = fit_high_word(rule, (mul, packed), -ends[0], ends[1])
    assert found is not None and found.is_within == is_within and found.shift == found.left + 32 * is_within
    for channel in range(CHANNELS):
        operands = [mul[channel : channel + 1], packed[channel : channel + 1]]
        first, last = -int(ends[0, channel]), int(ends[1, channel])
        # The sums around each step, and what is far from all of them.
        steps_near = (np.arange(-300, 300) + 0.5) * 2.0 ** shift[channel] / mul[channel]
        around = np.rint(steps_near).astype(np.int64)[:, None] + np.arange(-3, 4)
        sums = np.clip(np.append(around.ravel(), [first, 0, last]), first, last)
        np.testing.assert_array_equal(found.apply(sums, channel, limits), rule.apply(sums, operands))


def test_ties_have_no_such_form() -> None:
    """Halves go up and down: no sum does both."""
    mul, packed = np.array([1 << 30]), pack_offset(np.array([1 << 29]), np.array([30]))
    ends = np.array([500])
    assert fit_high_word(Requant("offset_half_even", 0, 0, -128, 127), (mul, packed), -ends, ends) is None


def test_a_factor_of_zero_has_none() -> None:
    rule, ends = Requant("half_even", 0, 0, -128, 127), np.array([500])
    assert fit_high_word(rule, (np.array([0]), np.array([31])), -ends, ends) is None
