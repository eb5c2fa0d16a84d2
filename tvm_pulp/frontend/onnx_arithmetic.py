"""Element-wise operators and means whose integers, zeros and infinities TVM's conversion treats as C would."""

from collections.abc import Callable
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp.errors import refuse_if
from tvm_pulp.frontend.onnx_conversion import Conversion
from tvm_pulp.frontend.relax_values import dtype_of


def _is_integer(dtype: str) -> bool:
    return dtype.lstrip("u").startswith("int")


def bit_shift(c: Conversion) -> Any:
    """A shift by the width or more leaves nothing, or the sign; C says nothing about it, nor about a shift below zero.

    Left shifts are done on unsigned numbers, where C defines all of them.
    """
    x, by = c.inputs[:2]
    direction, dtype = c.text("direction", ""), dtype_of(x)
    refuse_if(direction not in ("LEFT", "RIGHT"), f"direction '{direction}' is neither LEFT nor RIGHT: export it again")
    zero, bits = relax.const(np.zeros((), dtype), dtype), relax.const(8 * np.dtype(dtype).itemsize, dtype)
    inside = relax.op.less(by, bits)
    if dtype.startswith("int"):
        inside = relax.op.logical_and(inside, relax.op.greater_equal(by, zero))
    inside = c.emit(inside)
    near = c.emit(relax.op.where(inside, by, zero))
    if direction == "LEFT":
        plain = dtype if dtype.startswith("u") else f"u{dtype}"
        operands = [v if plain == dtype else c.emit(relax.op.astype(v, plain)) for v in (x, near)]
        shifted = c.emit(relax.op.left_shift(*operands))
        shifted = shifted if plain == dtype else c.emit(relax.op.astype(shifted, dtype))
        return relax.op.where(inside, shifted, zero)
    shifted, nothing = c.emit(relax.op.right_shift(x, near)), zero
    if dtype.startswith("int"):
        minus_one = relax.const(-1, dtype)
        nothing = c.emit(relax.op.where(c.emit(relax.op.less(x, zero)), minus_one, zero))
    return relax.op.where(inside, shifted, nothing)


def sign(c: Conversion) -> Any:
    """An unsigned number is zero or positive."""
    x = c.inputs[0]
    dtype = dtype_of(x)
    return relax.op.minimum(x, relax.const(1, dtype)) if dtype.startswith("uint") else c.stock()


def reduce_mean(c: Conversion) -> Any:
    """Of integers: their sum in their own type, divided as C divides; TVM would widen them."""
    x = c.inputs[0]
    if not _is_integer(dtype_of(x)) or (len(c.inputs) > 1 and c.inputs[1] is not None and c.constant(1) is None):
        return c.stock()
    shape, given = c.shape(), c.constant(1)
    axes = [int(a) for a in (c.attributes.get("axes", ()) if given is None else given.reshape(-1))]
    if not axes and c.attributes.get("noop_with_empty_axes", 0):
        return x
    axes = [a % len(shape) for a in axes] or list(range(len(shape)))
    count = int(np.prod([shape[a] for a in axes], dtype=np.int64))
    total = c.emit(relax.op.sum(x, axes, bool(c.attributes.get("keepdims", 1))))
    dtype = dtype_of(x)
    if count > np.iinfo(dtype).max:
        return relax.const(np.zeros([int(d) for d in total.ty.shape.values], dtype), dtype)
    return relax.op.divide(total, relax.const(np.array(count, dtype), dtype))


CONVERTERS: dict[str, Callable[[Conversion], Any]] = {
    "BitShift": bit_shift,
    "ReduceMean": reduce_mean,
    "Sign": sign,
}
