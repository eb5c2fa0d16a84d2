"""Constants, shapes and types of Relax expressions, and sequences as images."""

import re
from collections.abc import Iterable, Sequence
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


_LONGEST = 160
# Type rules begin with a description of the operator, and write numbers with their types.
_DESCRIPTION = re.compile(r"^.*support_level=\d+\),? ?")
_NUMBER = re.compile(r"T\.int64\((-?\d+)\)")


def framework_reason(error: Exception, shapes: Sequence[Iterable[Any]]) -> str:
    """The refusal of a node with operands of these shapes: on one line, without a full stop."""
    text = _NUMBER.sub(r"\1", _DESCRIPTION.sub("", " ".join(str(error).split())))
    if len(text) > _LONGEST:  # without the rest of a sentence, or of a word, that the limit falls into
        *_, text = text[-_LONGEST:].partition(". " if ". " in text[-_LONGEST:] else " ")
    reason = text.rstrip(".") or type(error).__name__
    operands = " and ".join(f"[{', '.join(map(str, s))}]" for s in shapes) or "no known shape"
    return f"cannot be converted with operands of shape {operands} ({reason})"
