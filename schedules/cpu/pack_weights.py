"""Weights in the order in which a CPU's blocked product reads them."""

import math
from collections.abc import Sequence

import numpy as np

from tvm_pulp.soc.cpu import DepthwiseBlock, ProductBlock


def aligned(size: int, multiple: int) -> int:
    """The size, rounded up."""
    return -(-size // multiple) * multiple


def padded(values: np.ndarray, axis: int, multiple: int) -> np.ndarray:
    """With zeros behind an axis, up to a multiple."""
    missing = -values.shape[axis] % multiple
    return np.pad(values, [(0, missing if a == axis else 0) for a in range(values.ndim)])


def pack_matrix(weight: np.ndarray, block: ProductBlock, wide: bool = False) -> np.ndarray:
    """[channels, depth], block after block: [blocks of channels, blocks of depth, a block in its order].

    `wide`: in the order of weights of 16 bits, and as such.
    """
    filled = padded(padded(weight, 0, math.prod(block.channels)), 1, math.prod(block.depth))
    split = filled.reshape(-1, *block.channels, filled.shape[1] // math.prod(block.depth), *block.depth)
    places = {f"c{i}": 1 + i for i in range(len(block.channels))}
    places |= {f"d{i}": 2 + len(block.channels) + i for i in range(len(block.depth))}
    made = _ordered(split, [0, 1 + len(block.channels)], places, block.wide_order if wide else block.order)
    return made.astype(np.int16) if wide else made


def pack_depthwise(weight: np.ndarray, block: DepthwiseBlock) -> np.ndarray:
    """[channels, taps]: [blocks of channels, taps, a block in its order]."""
    filled = padded(weight, 0, math.prod(block.channels))
    split = filled.reshape(-1, *block.channels, weight.shape[1])
    places = {f"c{i}": 1 + i for i in range(len(block.channels))}
    return _ordered(split, [0, 1 + len(block.channels)], places, block.order).astype(block.dtype)


def _ordered(split: np.ndarray, first: Sequence[int], places: dict[str, int], order: Sequence[str]) -> np.ndarray:
    return np.ascontiguousarray(split.transpose(*first, *(places[name] for name in order))).reshape(-1)
