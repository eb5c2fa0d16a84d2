"""Bytes as the engine reads them: tiles of 64x64, weights transposed, biases of 24 bits."""

import numpy as np
from numpy.typing import NDArray

from uma_backends.ita.geometry import BIAS_BITS, TILE


def tile_matrix(matrix: NDArray[np.int8]) -> NDArray[np.int8]:
    """A matrix of whole tiles as [row tile][column tile][64][64], the order of its bytes in L1."""
    rows, columns = matrix.shape
    parts = matrix.reshape(rows // TILE, TILE, columns // TILE, TILE)
    return np.ascontiguousarray(parts.transpose(0, 2, 1, 3))


def pad_matrix(matrix: NDArray[np.int8]) -> NDArray[np.int8]:
    """Zeros behind rows and columns, up to whole tiles."""
    return np.pad(matrix, [(0, -size % TILE) for size in matrix.shape])


def pack_biases(biases: NDArray[np.integer]) -> NDArray[np.uint8]:
    """Three bytes each, two's complement, the lowest first."""
    limit = 1 << (BIAS_BITS - 1)
    if biases.size and (biases.min() < -limit or biases.max() >= limit):
        raise ValueError(f"a bias has more than {BIAS_BITS} bits")
    words = np.ascontiguousarray(biases.astype("<i4")).view(np.uint8).reshape(-1, 4)
    return np.ascontiguousarray(words[:, :3]).reshape(-1)
