"""Row-wise operators: everything happens along the last axis, rows are independent."""

from __future__ import annotations

from typing import Any

import numpy as np

from tvm_pulp.qnn.loops import Loops, i32
from tvm_pulp.qnn.tensor_spec import TensorSpec


def as_rows(spec: TensorSpec) -> TensorSpec:
    """All leading axes as one."""
    return TensorSpec((spec.elements // spec.shape[-1], spec.shape[-1]), spec.dtype)


def sum_of_squares(loops: Loops, x: Any, row: Any, length: int, mean: Any | None = None) -> Any:
    """Sum of (x - mean)^2 over a row."""
    total = loops.scalar("squares", 0)
    with loops.loop("j", length) as j:
        value = i32(x[row, j])
        value = loops.bind("centred", value - mean) if mean is not None else loops.bind("value", value)
        total.set(total.value + value * value)
    return total.value


def integer_sqrt(values: np.ndarray) -> np.ndarray:
    """Floor of the square root, exact."""
    root = np.floor(np.sqrt(values.astype(np.float64))).astype(np.int64)
    root -= root * root > values
    return root + ((root + 1) * (root + 1) <= values)


def truncate_divide(a: np.ndarray, b: np.ndarray | int) -> np.ndarray:
    """C's division: towards zero. The divisor is positive."""
    return np.asarray(np.sign(a) * (np.abs(a) // b))


def clip_levels(values: np.ndarray, levels: int) -> np.ndarray:
    """Saturate to a signed range of `levels` values."""
    return np.clip(values, -(levels // 2), levels // 2 - 1)


def levels_dtype(levels: int) -> str:
    """Type of a signed result with `levels` values."""
    return "int8" if levels <= 256 else "int32"


def largest(spec: TensorSpec, others: np.ndarray) -> int:
    """Bound of |x * other|."""
    return spec.magnitude * int(np.abs(others.astype(np.int64)).max(initial=0))
