"""Float weights that are multiples of one number per channel, as fake-quantized ones are: the integers behind them."""

from dataclasses import dataclass

import numpy as np

_LARGEST = 127


@dataclass(frozen=True)
class Grid:
    """Integers of eight bits, and a scale for every channel; their products are the weights, bit for bit."""

    integers: np.ndarray
    scale: np.ndarray


def grid_of(weight: np.ndarray, axis: int) -> Grid | None:
    """The coarsest grid that all weights of each channel lie on; None where there is none of eight bits."""
    rows = np.moveaxis(weight, axis, 0).reshape(weight.shape[axis], -1)
    found = [_row(row) for row in rows]
    if any(f is None for f in found):
        return None
    scales = np.array([f[1] for f in found if f is not None], np.float32)
    codes = np.stack([f[0] for f in found if f is not None])
    shape = (weight.shape[axis], *(s for a, s in enumerate(weight.shape) if a != axis))
    return Grid(np.ascontiguousarray(np.moveaxis(codes.reshape(shape), 0, axis)), scales)


def _row(row: np.ndarray) -> tuple[np.ndarray, np.float32] | None:
    """Integers and scale of one channel."""
    largest = np.abs(row).max(initial=0)
    if not np.isfinite(largest):
        return None
    if largest == 0:
        return np.zeros(row.shape, np.int8), np.float32(1)
    # The largest is k steps, or 128 below zero; products are rounded, so that a quotient may be beside the step.
    for steps in range(1, _LARGEST + 2):
        near = np.float32(largest / np.float32(steps))
        for scale in (near, np.nextafter(near, np.float32(0)), np.nextafter(near, np.float32(np.inf))):
            if scale == 0:
                continue
            codes = np.rint(row / scale)
            if codes.max() > _LARGEST or codes.min() < -_LARGEST - 1:
                continue
            if np.array_equal(codes.astype(np.float32) * scale, row):
                return codes.astype(np.int8), np.float32(scale)
    return None
