"""Weights of few bits that change the results of a layer least, for the inputs that the layer really sees.

Rounding a weight to its grid leaves an error in every result. Inputs that are correlated with that weight's input can
take most of it away: their weights, not rounded yet, move against it. One input after the other is rounded so, those
that vary most first; how far others have to move follows from the factors of the inverse of the inputs' covariance.
"""

from collections.abc import Iterable

import numpy as np

# Part of the mean variance that is added to every input's: covariances of few samples are not invertible else.
_DAMPING = 0.01


def round_weights(weights: np.ndarray, covariance: np.ndarray, steps: np.ndarray, low: int, high: int) -> np.ndarray:
    """Integers [outputs, inputs] from low to high, one step per output, near `weights` in what they make of inputs."""
    order = np.argsort(-np.diag(covariance), kind="stable")
    damping = _DAMPING * float(np.diag(covariance).mean()) + 1e-12
    inverse = np.linalg.inv(covariance[np.ix_(order, order)] + damping * np.eye(len(order)))
    factor = np.linalg.cholesky(inverse).T
    left, made = weights[:, order].astype(np.float64), np.zeros(weights.shape, np.int64)
    for place, column in enumerate(order):
        made[:, column] = np.clip(np.rint(left[:, place] / steps), low, high)
        error = (left[:, place] - made[:, column] * steps) / factor[place, place]
        left[:, place + 1 :] -= np.outer(error, factor[place, place + 1 :])
    return made


def output_errors(weights: np.ndarray, made: np.ndarray, steps: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Mean square of what rounding adds to every output."""
    changed = made * steps[:, None] - weights
    return np.asarray(np.einsum("oi,ij,oj->o", changed, covariance, changed, optimize=True))


def round_with_best_steps(
    weights: np.ndarray, covariance: np.ndarray, candidates: Iterable[np.ndarray], low: int, high: int
) -> tuple[np.ndarray, np.ndarray]:
    """Integers and steps, for every output those of the candidate [outputs] with the least error."""
    best: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
    for steps in candidates:
        made = round_weights(weights, covariance, steps, low, high)
        errors = output_errors(weights, made, steps, covariance)
        if best is None:
            best = (made, steps.copy(), errors)
            continue
        better = errors < best[2]
        for kept, new in zip(best, (made, steps, errors), strict=True):
            kept[better] = new[better]
    assert best is not None
    return best[0], best[1]
