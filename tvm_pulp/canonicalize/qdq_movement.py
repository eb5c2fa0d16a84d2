"""Operators that move or select integers; they commute with dequantize.

Each function takes the call, its integer operand and that operand's zero point, and gives the same operator on
integers, or None.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.qdq_operands import movement
from tvm_pulp.canonicalize.rewriter import constant
from tvm_pulp.qnn.operator import spec_of


def reshape(call: Any, x: Any, zero_point: int) -> Any:
    shape = tuple(int(d) for d in call.ty.shape.values)
    return relax.op.reshape(x, shape)


def permute_dims(call: Any, x: Any, zero_point: int) -> Any:
    rank = len(spec_of(x).shape)
    axes = [int(a) % rank for a in call.attrs.axes] if call.attrs.axes else list(range(rank))[::-1]
    return qnn.emit("transpose", [x], {"axes": axes})


def max_pool(call: Any, x: Any, zero_point: int) -> Any:
    attributes = window(call)
    return None if attributes is None else qnn.emit("max_pool", [x], attributes)


def window(call: Any) -> dict[str, Any] | None:
    """Attributes of a two-dimensional pooling operator."""
    attrs = call.attrs
    pads = [int(p) for p in attrs.padding]
    if str(attrs.layout) not in ("NHWC", "NCHW") or bool(attrs.ceil_mode):
        return None
    return {
        "layout": str(attrs.layout),
        "kernel": [int(k) for k in attrs.pool_size],
        "strides": [int(s) for s in attrs.strides],
        "dilation": [int(d) for d in attrs.dilation],
        "pads": pads if len(pads) == 4 else [*pads, *pads],
    }


def pad(call: Any, x: Any, zero_point: int) -> Any:
    """Padding of integers; a float pad value must be zero, which is the zero point."""
    value = int(float(call.attrs.pad_value)) if _is_integer(call.args[0]) else zero_point
    if str(call.attrs.pad_mode) != "constant" or (not _is_integer(call.args[0]) and float(call.attrs.pad_value) != 0):
        return None
    width = [int(p) for p in call.attrs.pad_width]
    return qnn.emit("pad", [x], {"before": width[::2], "after": width[1::2], "value": value})


def strided_slice(call: Any, x: Any, zero_point: int) -> Any:
    lists = [_integers(a) for a in call.args[1:]]
    if any(v is None for v in lists):
        return None
    axes, begins, ends = (v or [] for v in lists[:3])
    steps = (lists[3] if len(lists) > 3 else None) or [1] * len(axes)
    shape = spec_of(x).shape
    begin, stride, size = [0] * len(shape), [1] * len(shape), list(shape)
    for axis, first, last, step in zip(axes, begins, ends, steps, strict=True):
        picked = range(shape[axis])[slice(first, last, step)]
        begin[axis], stride[axis], size[axis] = picked.start, picked.step, len(picked)
    if 0 in size:
        return None
    return qnn.emit("slice", [x], {"begin": begin, "stride": stride, "size": size})


def take(call: Any, x: Any, zero_point: int) -> Any:
    indices, shape = constant(call.args[1]), spec_of(x).shape
    if indices is None or call.attrs.axis is None:
        return None
    axis = int(call.attrs.axis) % len(shape)
    indices = np.where(indices < 0, indices + shape[axis], indices).astype(np.int32)
    if indices.size == 0 or indices.min() < 0 or indices.max() >= shape[axis]:
        return None
    return qnn.emit("gather", [x, relax.const(indices)], {"axis": axis})


def _integers(argument: Any) -> list[int] | None:
    """A tuple of constant integers."""
    try:
        return [int(field.value) for field in argument.fields]
    except (AttributeError, TypeError):
        return None


def _is_integer(expression: Any) -> bool:
    return not spec_of(expression).dtype.startswith("float")


MOVEMENTS: dict[str, Callable[[Any, Any, int], Any]] = {
    "relax.reshape": reshape,
    "relax.expand_dims": reshape,
    "relax.squeeze": reshape,
    "relax.flatten": reshape,
    "relax.permute_dims": permute_dims,
    "relax.nn.max_pool2d": max_pool,
    "relax.nn.pad": pad,
    "relax.strided_slice": strided_slice,
    "relax.take": take,
}


def moved_constant(call: Any, x: Any) -> Any:
    """A moved constant is a constant."""
    array, move = constant(x), movement(call)
    return relax.const(np.ascontiguousarray(move(array))) if array is not None and move is not None else None


