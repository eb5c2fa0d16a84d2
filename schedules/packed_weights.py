"""The layouts in which the kernels of products read weights, and the scratch area of depthwise ones.

Blocks of four columns (output channels), the last one reaching back where columns are not a multiple of four. In a
block, four bytes of the depth of each column in turn: one register tile reads its weights as one stream of words.
"""

from collections.abc import Sequence

import numpy as np

from tvm_pulp.qnn.window_attributes import StepAttributes, windows


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


def has_four_bits(weights: np.ndarray) -> bool:
    return bool(weights.min(initial=0) >= -8 and weights.max(initial=0) <= 7)


def pack_nibbles(weight: np.ndarray) -> np.ndarray:
    """Pack a matrix [columns, depth] of four bits, both multiples of four, one row per block of four columns.

    Two columns in a byte, 16 times the odd one plus the even one plus 8. In a block, four bytes of the depth of each
    pair in turn.
    """
    pairs = (16 * weight[1::2].astype(np.int16) + weight[0::2] + 8).astype(np.int8)
    blocks = pairs.reshape(len(pairs) // 2, 2, -1, 4)
    return np.ascontiguousarray(blocks.transpose(0, 2, 1, 3)).reshape(len(blocks), -1)


def has_moved_rows(kernel_width: int, stride_x: int) -> bool:
    """Tell whether rows of a depthwise kernel are stored several times, as `packed_weights.h` says."""
    return kernel_width >= 5 and stride_x <= 2 and kernel_width <= 6 + stride_x


def pack_depthwise_weights(weight: np.ndarray, stride_x: int) -> np.ndarray:
    """Weights [channels, kernel height, kernel width] with rows as `packed_weights.h` says."""
    width = weight.shape[2]
    moves = [0]
    if has_moved_rows(width, stride_x):
        moves = list(range(0, 4, stride_x))
        width = 7 if width == 6 and stride_x == 1 else width
    after = [padded(move + width) - move - weight.shape[2] for move in moves]
    parts = [np.pad(weight, ((0, 0), (0, 0), (move, rest))) for move, rest in zip(moves, after, strict=True)]
    return np.concatenate(parts, axis=2).astype(np.int8)


def weights_of_pixels(
    weight: np.ndarray, size: Sequence[int], out_size: Sequence[int], attributes: StepAttributes
) -> np.ndarray:
    """Weights [channels, kernel height, kernel width] as one for every output and pixel of a picture.

    The last axis is filled up with zeros to whole words.
    """
    down, across = windows(attributes, weight.shape[1:])
    spread = np.zeros((len(weight), *out_size, padded(size[0] * size[1])), np.int8)
    for oy, ox in np.ndindex(*out_size):
        for ky, kx in np.ndindex(*weight.shape[1:]):
            y, x = down.position(oy, ky), across.position(ox, kx)
            if 0 <= y < size[0] and 0 <= x < size[1]:
                spread[:, oy, ox, y * size[1] + x] = weight[:, ky, kx]
    return spread.reshape(len(weight), out_size[0] * out_size[1], -1)


def plane_stride(out_width: int, kernel_width: int, stride_x: int, pad_left: int) -> int:
    """Bytes of one row of one channel in the scratch area."""
    row = (max(out_width, 4) - 1) * stride_x + padded(kernel_width)
    return padded(pad_left) + padded(row) + 4


# Sums that a core of depthwise kernels keeps: enough for the calls that requantize them to be small beside their work.
_SUMS = 256


def scratch_bytes(out_width: int, stride: int, plane_rows: int, sum_rows: int) -> int:
    """Scratch bytes per core: image rows of four channels, and sums of output rows; `stride` is that of a plane."""
    width = padded(out_width)
    total = 4 * plane_rows * stride + 4 * width * min(sum_rows, max(1, _SUMS // width))
    # An odd number of words puts the cores into different banks.
    return total if total // 4 % 2 else total + 4
