"""Roundings of few sums with halves: a product, a sum, one less for odd results, and a shift."""

import numpy as np
import pytest

from tvm_pulp.qnn.exact_shift import exact_shift, exact_shift_to_even
from tvm_pulp.qnn.fixed_point import single_rounding_multipliers
from tvm_pulp.qnn.requant import Requant

MOST = 4 * 255


@pytest.mark.parametrize("zero_point", [0, 5, -7, -128])
@pytest.mark.parametrize("count", [2, 4, 6, 8, 9])
def test_means_of_bytes(count: int, zero_point: int) -> None:
    """Every sum of so many bytes, by fractions: half of a unit goes to the even result."""
    low, high = -128, 127
    operands = single_rounding_multipliers(np.array([1 / count]))
    found = exact_shift_to_even(
        Requant("half_even", 0, zero_point, low, high), operands, np.array([-MOST]), np.array([MOST])
    )
    assert found is not None
    (multiplier,), (summand,), shift = found
    sums = np.arange(-MOST, MOST + 1, dtype=np.int64)
    total = sums * int(multiplier) + int(summand)
    assert np.abs(total).max() < 1 << 31
    made = np.clip((total - (((total >> shift) ^ zero_point) & 1)) >> shift, low, high)
    below, rest = np.divmod(sums, count)
    exact = below + (2 * rest > count) + ((2 * rest == count) & (below & 1 == 1))
    ties = 2 * rest == count
    np.testing.assert_array_equal(made[~ties], np.clip(exact + zero_point, low, high)[~ties])
    # Of six the rule's own multiplier is no sixth: its halves go one way.
    if count in (2, 4, 8):
        np.testing.assert_array_equal(made, np.clip(exact + zero_point, low, high))
        assert (
            exact_shift(Requant("half_even", 0, zero_point, low, high), operands, np.array([-MOST]), np.array([MOST]))
            is None
        )


def test_other_rules_have_no_halves_of_that_kind() -> None:
    operands = single_rounding_multipliers(np.array([0.25]))
    assert exact_shift_to_even(Requant("half_up", 0, 0, -128, 127), operands, np.array([0]), np.array([MOST])) is None
