"""Depthwise convolution on the cluster cores: constants, scratch area."""

from __future__ import annotations

import numpy as np


def pack_depthwise_weights(weight: np.ndarray) -> np.ndarray:
    """Weights [channels, kernel height, kernel width] with kernel rows filled up with zeros to whole words."""
    channels, height, width = weight.shape
    packed = np.zeros((channels, height, -(-width // 4) * 4), np.int8)
    packed[..., :width] = weight
    return packed.reshape(-1)


def plane_stride(out_width: int, kernel_width: int, stride_x: int) -> int:
    """Bytes of one row of one channel in the scratch area."""
    row = (out_width - 1) * stride_x + -(-kernel_width // 4) * 4
    return -(-(row + 6) // 4) * 4


def scratch_bytes(out_width: int, kernel: tuple[int, int], stride_x: int) -> int:
    """Scratch bytes per core: a ring of kernel rows for four channels, and a row of accumulators."""
    total = 4 * kernel[0] * (plane_stride(out_width, kernel[1], stride_x) + 1) + 4 * out_width
    # An odd number of words puts the cores into different banks.
    return total if total // 4 % 2 else total + 4
