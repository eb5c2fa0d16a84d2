"""Reads constants out of Relax expressions."""

from __future__ import annotations

from typing import Any

import numpy as np
import tvm


def constant(expression: Any) -> np.ndarray | None:
    """Numpy array of a constant, or None."""
    return np.asarray(expression.value.numpy()) if isinstance(expression, tvm.ir.GenericConst) else None
