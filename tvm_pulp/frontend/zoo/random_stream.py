"""Reproducible random numbers: the same key gives the same numbers on every machine and with every numpy.

Only the raw 64-bit output of a bit generator is promised to stay the same between numpy versions, so the
distributions are made here, from integer arithmetic and single correctly rounded operations.
"""

import hashlib
import math
from typing import Any

import numpy as np

_BYTES = 8
_MEAN = _BYTES * 255 / 2
_DEVIATION = math.sqrt(_BYTES * (256 * 256 - 1) / 12)


class RandomStream:
    """An endless stream of numbers that belongs to one key, for example (network, seed, tensor)."""

    def __init__(self, *key: str | int) -> None:
        digest = hashlib.sha256(repr(key).encode()).digest()
        self._source = np.random.PCG64(int.from_bytes(digest[:16], "little"))

    def _raw(self, shape: tuple[int, ...]) -> Any:
        return np.asarray(self._source.random_raw(math.prod(shape)), np.uint64)

    def normal(self, *shape: int) -> np.ndarray:
        """Values close to a standard normal distribution: the sum of eight random bytes, within ±4.9."""
        # Pairs, then fours, then eights of bytes inside the word: three vector steps instead of a byte-wise sum.
        total = self._raw(shape)
        for bits, mask in ((8, 0x00FF00FF00FF00FF), (16, 0x0000FFFF0000FFFF), (32, 0x00000000FFFFFFFF)):
            total = (total & np.uint64(mask)) + ((total >> np.uint64(bits)) & np.uint64(mask))
        return np.asarray((total.astype(np.float64) - _MEAN) / _DEVIATION).reshape(shape)

    def integers(self, low: int, high: int, *shape: int) -> np.ndarray:
        """Evenly distributed integers from low to high, both included."""
        # 32 random bits spread over the span: the bias is far below anything a model could show.
        bits = self._raw(shape) >> np.uint64(32)
        return ((bits * np.uint64(high - low + 1)) >> np.uint64(32)).astype(np.int64).reshape(shape) + low

    def uniform(self, low: float, high: float, *shape: int) -> np.ndarray:
        """Evenly distributed real numbers."""
        fraction = (self._raw(shape) >> np.uint64(11)).astype(np.float64) * 2.0**-53
        return np.asarray(fraction * (high - low) + low).reshape(shape)
