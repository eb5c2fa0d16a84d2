"""Convolutions in groups as those of one group: weights with zeros where groups do not meet."""

import numpy as np


def block_diagonal(filters: np.ndarray, groups: int) -> np.ndarray:
    """Weights [groups * outputs, height, width, channels] as those of one group that has the channels of all."""
    count, height, width, channels = filters.shape
    wide = np.zeros((groups, count // groups, height, width, groups, channels), filters.dtype)
    each = np.arange(groups)
    wide[each, :, :, :, each] = filters.reshape(groups, -1, height, width, channels)
    return wide.reshape(count, height, width, groups * channels)
