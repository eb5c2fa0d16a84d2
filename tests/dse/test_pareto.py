"""Fronts and volumes, against counting."""

import itertools

import numpy as np
import pytest

from tvm_pulp.dse import hypervolume, pareto_front


def test_a_front() -> None:
    """Of equal points one is kept."""
    assert pareto_front([(1, 5), (2, 2), (2, 2), (3, 3), (5, 1), (1, 6)]) == [0, 1, 4]
    assert pareto_front([(1,)]) == [0]


@pytest.mark.parametrize("figures", [1, 2, 3])
def test_the_volume_is_that_of_covered_cells(figures: int) -> None:
    points = np.random.default_rng(figures).integers(0, 9, (12, figures)).tolist()
    cells = itertools.product(range(8), repeat=figures)
    covered = sum(any(all(p <= c for p, c in zip(point, cell, strict=True)) for point in points) for cell in cells)
    assert hypervolume(points, [8] * figures) == covered


def test_points_beyond_the_reference_count_nothing() -> None:
    assert hypervolume([(9, 1), (1, 9)], (8, 8)) == 0
