"""Element types of graph inputs whose file does not state them (the PULP integer dialect).

They come from the user, else from the value range of sample data, else they are int8.
"""

import numpy as np

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.qnn.tensor_spec import RANGES

# Tried in this order: the narrowest first, unsigned when nothing is negative.
_NARROWEST = ("uint8", "int8", "uint16", "int16", "int32")
KNOWN = ("int8", "uint8", "int16", "uint16", "int32", "float32")


def is_integral(array: np.ndarray) -> bool:
    """Tell if every value is an integer, up to the noise of a float file."""
    if np.issubdtype(array.dtype, np.integer):
        return True
    return bool(np.isfinite(array).all() and np.all(np.abs(array - np.round(array)) < 1e-3))


def narrowest(array: np.ndarray) -> str:
    """Narrowest integer type that holds the values; unsigned when none is negative."""
    low, high = (int(np.round(array.min())), int(np.round(array.max()))) if array.size else (0, 0)
    if array.size == 0:
        return "int8"
    for dtype in _NARROWEST:
        if RANGES[dtype][0] <= low and high <= RANGES[dtype][1]:
            return dtype
    return "int32"


def input_type(name: str, stated: dict[str, str], sample: np.ndarray | None) -> str:
    """Type of one graph input."""
    if name in stated:
        if stated[name] not in KNOWN:
            raise UserError(f"--input-types: '{stated[name]}' for input '{name}' is not one of {', '.join(KNOWN)}")
        return stated[name]
    if sample is None:
        return "int8"
    refuse_if(
        not is_integral(sample),
        f"--sample-inputs: input '{name}' of this integer network holds fractions: quantize it or state --input-types",
    )
    return narrowest(sample)
