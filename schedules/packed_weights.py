"""The layout in which the matrix kernels read weights.

Blocks of four columns (output channels), the last one reaching back where columns are not a multiple of four. In a
block, four bytes of the depth of each column in turn: one register tile reads its weights as one stream of words.
"""

from __future__ import annotations

import numpy as np


def padded_depth(depth: int) -> int:
    """Depth rounded up to whole words."""
    return -(-depth // 4) * 4


def pack_weights(weight: np.ndarray) -> np.ndarray:
    """Pack an int8 matrix [columns, ...], one row per block; everything behind the first axis is the depth."""
    matrix = weight.reshape(weight.shape[0], -1)
    columns, depth = matrix.shape
    filled = np.zeros((max(columns, 4), padded_depth(depth)), np.int8)
    filled[:columns, :depth] = matrix
    starts = [min(first, len(filled) - 4) for first in range(0, columns, 4)]
    blocks = np.stack([filled[start : start + 4] for start in starts])
    return np.ascontiguousarray(blocks.reshape(len(starts), 4, -1, 4).transpose(0, 2, 1, 3)).reshape(len(starts), -1)
