"""Teams: parts of the cores, numbered as the nodes of a binary tree."""

import pytest

from tvm_pulp.uma.teams import EVERYBODY, joint, parts, quarters, team_of


def test_halves_and_quarters_divide_all_cores() -> None:
    assert [parts(team) for team in range(1, 8)] == [1, 2, 2, 4, 4, 4, 4]
    assert quarters(1) == EVERYBODY == quarters(2) | quarters(3)
    assert quarters(2) & quarters(3) == 0
    assert [quarters(team) for team in (4, 5, 6, 7)] == [1, 2, 4, 8]
    assert quarters(3) == quarters(6) | quarters(7)


@pytest.mark.parametrize("some, other, both", [(4, 5, 2), (4, 6, 1), (2, 3, 1), (6, 3, 3), (5, 5, 5), (1, 7, 1)])
def test_the_smallest_team_that_holds_two(some: int, other: int, both: int) -> None:
    assert joint(some, other) == joint(other, some) == both == team_of(quarters(some) | quarters(other))
