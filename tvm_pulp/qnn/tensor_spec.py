"""Shape and element type of a tensor."""

import math
from collections.abc import Sequence
from functools import cache, cached_property

import numpy as np

from tvm_pulp.quick_records import quick_record

# Value range of the integer element types the dialect knows.
RANGES = {
    "int8": (-128, 127),
    "uint8": (0, 255),
    "int16": (-(1 << 15), (1 << 15) - 1),
    "uint16": (0, (1 << 16) - 1),
    "int32": (-(1 << 31), (1 << 31) - 1),
    "uint32": (0, (1 << 32) - 1),
    "int64": (-(1 << 63), (1 << 63) - 1),
    "uint64": (0, (1 << 64) - 1),
}
BYTES = ("int8", "uint8")


@cache
def bytes_of(dtype: str) -> int:
    """Bytes of an element."""
    return int(np.dtype(dtype).itemsize)


def every_value(dtype: str) -> np.ndarray:
    """All values of an integer type of few bits, smallest first."""
    low, high = RANGES[dtype]
    return np.arange(low, high + 1).astype(dtype)


def looked_up(table: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Entries of a table that has one for every value of a type, smallest first."""
    return np.asarray(table[values.astype(np.int64) - RANGES[str(values.dtype)][0]])


@quick_record(slots=False)
class TensorSpec:
    """Shape and element type, without data."""

    shape: tuple[int, ...]
    dtype: str

    @cached_property
    def elements(self) -> int:
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return bytes_of(self.dtype)

    @cached_property
    def bytes(self) -> int:
        return self.elements * self.itemsize

    @property
    def flat(self) -> "TensorSpec":
        """All axes as one."""
        return TensorSpec((self.elements,), self.dtype)

    @property
    def rows(self) -> "TensorSpec":
        """All leading axes as one."""
        return TensorSpec((self.elements // self.shape[-1], self.shape[-1]), self.dtype)

    @property
    def range(self) -> tuple[int, int]:
        """Smallest and largest value of an integer type."""
        return RANGES[self.dtype]

    @property
    def magnitude(self) -> int:
        """Largest absolute value of an integer type."""
        low, high = self.range
        return max(-low, high)

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


Specs = Sequence[TensorSpec]
Arrays = Sequence[np.ndarray]
