"""Depthwise convolution on the cluster cores: constants, scratch area."""

import numpy as np


def whole_words(size: int) -> int:
    """Bytes rounded up to whole words."""
    return -(-size // 4) * 4


def pack_depthwise_weights(weight: np.ndarray) -> np.ndarray:
    """Weights [channels, kernel height, kernel width] with kernel rows filled up with zeros to whole words."""
    channels, height, width = weight.shape
    packed = np.zeros((channels, height, whole_words(width)), np.int8)
    packed[..., :width] = weight
    return packed


def plane_stride(out_width: int, kernel_width: int, stride_x: int, pad_left: int) -> int:
    """Bytes of one row of one channel in the scratch area."""
    row = (out_width - 1) * stride_x + whole_words(kernel_width)
    return whole_words(pad_left) + whole_words(row) + 4


def scratch_bytes(out_width: int, stride: int, plane_rows: int) -> int:
    """Scratch bytes per core: rows of four channels, and a row of accumulators; `stride` is that of a plane."""
    total = 4 * plane_rows * stride + 4 * out_width
    # An odd number of words puts the cores into different banks.
    return total if total // 4 % 2 else total + 4
