"""Tables of exponentials and logits by which kernels compute `i_softmax` and the attention around it."""

from typing import Any

import numpy as np

_ENTRIES = 256


def exponentials(attributes: dict[str, Any]) -> np.ndarray:
    """Entry 255 - d is 1 + (levels - 1) * the exponential of the distance d to the maximum, whatever its size."""
    a, b, c, log2, levels = (int(attributes[k]) for k in ("a", "b", "c", "log2", "levels"))
    distance = 255 - np.arange(_ENTRIES, dtype=np.int64)
    halvings = np.minimum(distance // log2, 31)
    rest = halvings * log2 - distance
    return np.asarray(1 + (levels - 1) * ((a * (rest + b) ** 2 + c) >> halvings))


def exponential_table(attributes: dict[str, Any]) -> np.ndarray:
    """Table of `i_softmax`: its exponentials."""
    table = exponentials(attributes)
    if table.min() < 1 or table.max() >= 1 << 31:
        raise OverflowError("exponentials of this softmax do not fit the kernel's 31 bits")
    return table.astype(np.uint32)


def small_exponential_table(table: np.ndarray, levels: int, keys: int) -> np.ndarray | None:
    """The exponentials of `exponential_table` shifted up so that the largest has 16 bits, or None.

    None where a sum of `keys` exponentials or the division by it would not be exact in the kernel's arithmetic.
    """
    values = (table.astype(np.int64) - 1) // (levels - 1)
    largest = int(values.max())
    if largest != values[-1] or not 1 <= largest < 1 << 16:
        return None
    shift = 16 - largest.bit_length()
    scaled = largest << shift
    if keys * scaled >= 1 << 24 or keys * scaled**2 >= 1 << (39 + shift):
        return None
    return (values << shift).astype(np.uint16)


def logit_table(table: np.ndarray | None, low: int, high: int) -> np.ndarray:
    """Values of logits from `low` to `high`, plus 128; `table` holds what those of int8 become, None: themselves."""
    values = np.clip(np.arange(low, high + 1), -128, 127)
    return ((values if table is None else table.reshape(-1).astype(np.int64)[values + 128]) + 128).astype(np.uint8)
