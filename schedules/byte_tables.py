"""Tables over the 256 values of a byte: whatever an element-wise chain does to one 8-bit operand, computed once."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tvm_pulp.qnn.softmax_tflite import TfliteSoftmaxAttributes

LUT_ENTRIES = 256


def byte_values(dtype: str) -> np.ndarray:
    """The value that each stored byte 0..255 stands for, as int64."""
    return np.arange(LUT_ENTRIES).astype(np.uint8).view(dtype).astype(np.int64)


def by_stored_byte(table: np.ndarray, dtype: str) -> np.ndarray:
    """A table whose first entry belongs to the smallest value of a type, in the order of the stored byte."""
    entries = table.reshape(-1).view(np.uint8)
    return np.roll(entries, 128) if dtype == "int8" else entries


def byte_table(function: Callable[[np.ndarray], np.ndarray], dtype: str, result: str) -> np.ndarray:
    """Results of `function` (values to values) in the order of the stored byte."""
    return np.ascontiguousarray(np.asarray(function(byte_values(dtype))).astype(result))


def logit_range(size: int, mul: int, add: int, shift: int) -> tuple[int, int]:
    """Smallest and largest (q . k * mul + add) >> shift of int8 vectors of `size` elements."""
    ends = [(product * mul + add) >> shift for product in (-127 * 128 * size, 128 * 128 * size)]
    return min(ends), max(ends)


def tflite_exponential_table(attributes: "TfliteSoftmaxAttributes") -> np.ndarray:
    """Table of `softmax_tflite`: entry 255 - d is the Q0.31 exponential of the distance d."""
    # TVM comes in with the dialect: not before it is needed.
    from tvm_pulp.qnn import softmax_tflite

    return softmax_tflite.exponentials(attributes, np.arange(LUT_ENTRIES, dtype=np.int64) - 255).astype(np.int32)
