"""The layouts in which the kernels of products read weights, and the scratch area of depthwise ones.

Blocks of four columns (output channels), the last one reaching back where columns are not a multiple of four. In a
block, four bytes of the depth of each column in turn: one register tile reads its weights as one stream of words.
"""

import numpy as np


def padded(size: int) -> int:
    """Bytes rounded up to whole words."""
    return -(-size // 4) * 4


def offset_weights(weights: np.ndarray) -> tuple[np.ndarray, int] | None:
    """Weights as int8 plus the same number for all, or None where they span more than a byte.

    Weights with a zero point that is not in the middle of their range need this: products of bytes take int8 only.
    """
    if weights.dtype == np.int8:
        return weights, 0
    low, high = int(weights.min(initial=0)), int(weights.max(initial=0))
    offset = max(0, high - 127) or min(0, low + 128)
    if low - offset < -128 or high - offset > 127:
        return None
    return (weights.astype(np.int64) - offset).astype(np.int8), offset


def pack_weights(weight: np.ndarray) -> np.ndarray:
    """Pack an int8 matrix [columns, ...], one row per block; everything behind the first axis is the depth."""
    matrix = weight.reshape(weight.shape[0], -1)
    columns, depth = matrix.shape
    filled = np.zeros((max(columns, 4), padded(depth)), np.int8)
    filled[:columns, :depth] = matrix
    starts = [min(first, len(filled) - 4) for first in range(0, columns, 4)]
    blocks = np.stack([filled[start : start + 4] for start in starts])
    return np.ascontiguousarray(blocks.reshape(len(starts), 4, -1, 4).transpose(0, 2, 1, 3)).reshape(len(starts), -1)


def pack_depthwise_weights(weight: np.ndarray) -> np.ndarray:
    """Weights [channels, kernel height, kernel width] with kernel rows filled up with zeros to whole words."""
    channels, height, width = weight.shape
    packed = np.zeros((channels, height, padded(width)), np.int8)
    packed[..., :width] = weight
    return packed


def plane_stride(out_width: int, kernel_width: int, stride_x: int, pad_left: int) -> int:
    """Bytes of one row of one channel in the scratch area."""
    row = (out_width - 1) * stride_x + padded(kernel_width)
    return padded(pad_left) + padded(row) + 4


def scratch_bytes(out_width: int, stride: int, plane_rows: int) -> int:
    """Scratch bytes per core: rows of four channels, and a row of accumulators; `stride` is that of a plane."""
    total = 4 * plane_rows * stride + 4 * out_width
    # An odd number of words puts the cores into different banks.
    return total if total // 4 % 2 else total + 4
