"""Shares of groups of four channels among cores."""

import pytest

from schedules.kernel_cycles import share_groups


@pytest.mark.parametrize("cores", [3, 8, 9])
@pytest.mark.parametrize("rows", [1, 9, 36, 100, 289, 1000])
def test_fewer_groups_than_cores_take_no_longer_than_one_for_each(cores: int, rows: int) -> None:
    for groups in range(1, cores):
        mine, each = share_groups(groups, rows, cores)
        # Beginning a group takes about as long as four rows; a share of rows rounds up, by less than one a group.
        assert mine * (4 + each - 1) < 4 + rows
