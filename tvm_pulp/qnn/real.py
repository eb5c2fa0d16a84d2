"""Single precision as `tvm_pulp/real.h` computes it, in numpy: the same operations in the same order."""

import numpy as np

_LARGEST = 1 << 22


def round_even(x: np.ndarray) -> np.ndarray:
    """Nearest integers, ties to even, within 2^22."""
    return np.asarray(np.clip(np.rint(np.asarray(x, np.float32)), -_LARGEST, _LARGEST).astype(np.int64))


def round_within(x: np.ndarray, low: int, high: int) -> np.ndarray:
    """The same, limited."""
    return np.clip(round_even(x), low, high)


def real_of(values: np.ndarray) -> np.ndarray:
    """Unsigned numbers of up to 64 bits, both halves rounded."""
    high, low = (values >> 32).astype(np.float32), (values & 0xFFFFFFFF).astype(np.float32)
    return np.asarray(high * np.float32(4294967296.0) + low, np.float32)


def inverse_root(x: np.ndarray) -> np.ndarray:
    """1 / sqrt(x) as the C does it; 0 where x is not positive."""
    x = np.asarray(x, np.float32)
    positive = np.where(x > 0, x, np.float32(1))
    y = (np.uint32(0x5F375A86) - (positive.view(np.uint32) >> np.uint32(1))).view(np.float32)
    half = np.float32(0.5) * positive
    for _ in range(3):
        y = y * (np.float32(1.5) - half * y * y)
    return np.asarray(np.where(x > 0, y, np.float32(0)), np.float32)
