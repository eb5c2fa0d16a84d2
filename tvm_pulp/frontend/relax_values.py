"""Constants, shapes and types of Relax expressions, and sequences as images."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import tvm
from tvm import relax


def constant(expression: Any) -> np.ndarray | None:
    """Numpy array of a constant, or None."""
    return np.asarray(expression.value.numpy()) if isinstance(expression, tvm.ir.GenericConst) else None


def shape_of(expression: Any) -> list[int]:
    """Shape of a tensor whose sizes are known."""
    return [int(d) for d in expression.ty.shape.values]


def dtype_of(expression: Any) -> str:
    """Element type of a tensor."""
    return str(expression.ty.dtype.dtype)


def as_image(builder: Any, x: Any, shape: Sequence[int]) -> Any:
    """A sequence as an image of one row; an image as it is."""
    return builder.emit(relax.op.reshape(x, (*shape[:2], 1, shape[2]))) if len(shape) == 3 else x
