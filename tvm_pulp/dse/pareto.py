"""Pareto fronts: which points nothing beats in everything, and how much of the space they cover. Less is better."""

from collections.abc import Sequence

import numpy as np

Point = Sequence[float]


def pareto_front(points: Sequence[Point]) -> list[int]:
    """Numbers of the points that no other one beats in a figure and reaches in all; of equal ones the first."""
    values = np.asarray(points, dtype=float)
    found = []
    for number, point in enumerate(values):
        no_worse = (values <= point).all(axis=1)
        better = no_worse & (values < point).any(axis=1)
        equal = no_worse & ~better
        if not better.any() and int(np.flatnonzero(equal)[0]) == number:
            found.append(number)
    return found


def hypervolume(points: Sequence[Point], reference: Point) -> float:
    """The volume between points and a reference that is worse than what counts: slices along the last figure."""
    values = np.asarray([p for p in points if all(a < b for a, b in zip(p, reference, strict=True))], dtype=float)
    if not len(values):
        return 0.0
    if values.shape[1] == 1:
        return float(reference[0] - values.min())
    values = values[np.argsort(values[:, -1], kind="stable")]
    volume = 0.0
    for number in range(len(values)):
        above = values[number + 1, -1] if number + 1 < len(values) else reference[-1]
        volume += (above - values[number, -1]) * hypervolume(
            [tuple(p[:-1]) for p in values[: number + 1]], reference[:-1]
        )
    return volume
