"""Sums of two bytes by tables: what each operand becomes, and the result for every value of their sum."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from schedules.byte_tables import byte_values


@dataclass(frozen=True)
class SumTable:
    """`results[f(a) + g(b) - low]`; f and g are int8 tables over the 256 bytes, or None for the byte's own value."""

    operands: tuple[np.ndarray | None, np.ndarray | None]
    results: np.ndarray
    low: int


def find_sum_table(
    tables: Sequence[np.ndarray | None], types: Sequence[str], result: Callable[[np.ndarray], np.ndarray]
) -> SumTable | None:
    """Tables of `result(f(a) + g(b))`, or None where what an operand becomes does not fit a byte.

    An operand that differs from its byte by a constant needs no table, and values up to 255 are stored 128 lower: both
    are put right in the results.
    """
    operands: list[np.ndarray | None] = []
    low, high, offset = 0, 0, 0
    for table, dtype in zip(tables, types, strict=True):
        own = byte_values(dtype).astype(np.int64)
        values = own if table is None else table.astype(np.int64)
        moved = int((values - own)[0])
        stored = values - moved
        if (stored == own).all():
            operands.append(None)
        else:
            moved = 128 if values.max() > 127 else 0
            stored = values - moved
            if stored.min() < -128 or stored.max() > 127:
                return None
            operands.append(stored.astype(np.int8))
        low, high, offset = low + int(stored.min()), high + int(stored.max()), offset + moved
    return SumTable((operands[0], operands[1]), result(np.arange(low + offset, high + offset + 1)).view(np.uint8), low)
