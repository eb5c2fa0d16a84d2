"""Cuts of a prompt: the cheapest of all sequences of programs."""

from itertools import product

import pytest

from tvm_pulp.language_models.prompt_cuts import cheapest_cuts


@pytest.mark.parametrize(
    "cycles",
    [
        {1: 10, 16: 64},
        # A program that is worth nothing.
        {1: 10, 4: 41, 16: 200},
        {1: 10, 4: 14, 16: 38, 64: 120},
        {1: 10, 6: 10},
    ],
)
def test_no_other_sequence_is_cheaper(cycles: dict[int, int]) -> None:
    cuts = cheapest_cuts(cycles, 9)
    for tokens in range(1, 10):
        sequences = [s for n in range(1, tokens + 1) for s in product(cycles, repeat=n) if sum(s) >= tokens]
        best = min(sum(cycles[rows] for rows in sequence) for sequence in sequences)
        assert cuts[tokens].cycles == best <= tokens * cycles[1]
        # What the first program leaves is cut as well as if it were alone.
        first = cuts[tokens].first
        assert best == cycles[first] + cuts[max(0, tokens - first)].cycles


def test_a_program_that_gains_nothing_is_not_used() -> None:
    assert {cut.first for cut in cheapest_cuts({1: 10, 4: 40, 16: 160}, 20)} == {0, 1}
