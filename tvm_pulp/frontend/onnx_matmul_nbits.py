"""MatMulNBits, which onnxruntime's weight-only quantizer writes: weights of 2, 4 or 8 bits in blocks along the depth.

Activations are floats, so the product is one of floats. Where a block is a whole column, weights stay integers with one
scale per column, and a model that quantizes its activations too gets an integer product of as few bits. So do blocks
whose scales are multiples of one number, as those of quantizers that take powers of two: their weights are integers of
8 bits with that scale, and stand for the same floats.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tvm_pulp.errors import UserError

_BITS = (2, 4, 8)
# Of the smallest scale of a column, where others are no multiples of it: more leave no number of 4 bits within 8.
_MOST_PARTS = 16


@dataclass(frozen=True)
class BlockedWeights:
    """Numbers [depth, columns]; scales and zero points [blocks, columns]; `block` of every row of the numbers."""

    numbers: np.ndarray
    scales: np.ndarray
    zero_points: np.ndarray
    block: np.ndarray

    @property
    def per_column(self) -> bool:
        """One scale and one whole zero point for a column."""
        return len(self.scales) == 1 and np.issubdtype(self.zero_points.dtype, np.integer)

    def folded(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Numbers of 8 bits and a scale for every column that stand for the same floats; None where there are none."""
        if not np.issubdtype(self.zero_points.dtype, np.integer) or (self.scales <= 0).any():
            return None
        centred = self.numbers.astype(np.int64) - self.zero_points.astype(np.int64)[self.block]
        numbers, scales = np.zeros(centred.shape, np.int8), np.zeros(self.scales.shape[1], np.float32)
        for parts in range(1, _MOST_PARTS + 1):
            step = (self.scales.min(0) / np.float32(parts)).astype(np.float32)
            times = np.rint(self.scales.astype(np.float64) / np.maximum(step, np.float32(1e-38)))
            wide = centred * times.astype(np.int64)[self.block]
            exact = (times * step.astype(np.float64) == self.scales).all(0) & (np.abs(wide) <= 127).all(0)
            new = exact & (scales == 0)
            numbers[:, new], scales[new] = wide[:, new], step[new]
        return (numbers, scales) if (scales > 0).all() else None

    def real(self) -> np.ndarray:
        """As floats, every operation rounded to single precision."""
        zeros = self.zero_points.astype(np.float32)[self.block]
        return (self.numbers.astype(np.float32) - zeros) * self.scales[self.block]


def blocked_weights(what: str, attributes: dict[str, Any], stored: dict[str, np.ndarray]) -> BlockedWeights:
    """The weights of a node; `stored` holds its constant operands, `what` names it in messages."""
    given = [attributes.get(name, default) for name, default in _ATTRIBUTES]
    if not all(isinstance(value, int) for value in given):
        raise UserError(f"{what}: K, N, bits and block_size have to be whole numbers: export it again")
    depth, columns, bits, size = given
    if bits not in _BITS or size < 1 or (size * bits) % 8 or depth < 1 or columns < 1:
        raise UserError(f"{what}: {bits} bits in blocks of {size} for {depth} x {columns} weights: use 4 bits and 32")
    blocks = -(-depth // size)
    packed = _shaped(what, "B", stored["B"], "uint8", (columns, blocks, size * bits // 8))
    numbers = _unpacked(packed, bits).reshape(columns, -1)[:, :depth].T
    scales = _shaped(what, "scales", stored["scales"], "float32", (columns, blocks)).T
    zeros = _zero_points(what, stored.get("zero_points"), bits, (columns, blocks))
    block = np.arange(depth) // size
    if "g_idx" in stored:
        block = _shaped(what, "g_idx", stored["g_idx"].astype(np.int64), "int64", (depth,))
        if not 0 <= block.min() <= block.max() < blocks:
            raise UserError(f"{what}: g_idx names blocks outside 0 to {blocks - 1}: export it again")
    return BlockedWeights(numbers, scales, zeros.T, block)


_ATTRIBUTES = (("K", 0), ("N", 0), ("bits", 4), ("block_size", 32))


def _shaped(what: str, name: str, values: np.ndarray, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    if values.dtype != np.dtype(dtype) or values.size != np.prod(shape):
        found = f"{values.dtype}{list(values.shape)}"
        raise UserError(f"{what}: {name} is {found} and its attributes ask for {dtype}{list(shape)}: export it again")
    return values.reshape(shape)


def _unpacked(packed: np.ndarray, bits: int) -> np.ndarray:
    """Numbers of a last axis of bytes, the lowest bits first."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    return np.asarray(((packed[..., None] >> shifts) & ((1 << bits) - 1)).reshape(*packed.shape[:-1], -1), np.uint8)


def _zero_points(what: str, stored: np.ndarray | None, bits: int, shape: tuple[int, int]) -> np.ndarray:
    """Of every column's blocks: packed like the weights, floats, or the middle of the range."""
    if stored is None:
        return np.full(shape, 1 << (bits - 1), np.uint8)
    if stored.dtype == np.float32:
        return _shaped(what, "zero_points", stored, "float32", shape)
    packed = _shaped(what, "zero_points", stored, "uint8", (shape[0], -(-shape[1] * bits // 8)))
    return _unpacked(packed, bits)[:, : shape[1]]
