"""Reads constants and shapes out of Relax expressions."""

from __future__ import annotations

from typing import Any

import numpy as np
import tvm


def constant(expression: Any) -> np.ndarray | None:
    """Numpy array of a constant, or None."""
    return np.asarray(expression.value.numpy()) if isinstance(expression, tvm.ir.GenericConst) else None


def shape_of(expression: Any) -> list[int]:
    """Shape of a tensor whose sizes are known."""
    return [int(d) for d in expression.ty.shape.values]


def dtype_of(expression: Any) -> str:
    """Element type of a tensor."""
    return str(expression.ty.dtype.dtype)
