"""Operators that move or select integers; they commute with dequantize.

Each function takes the call, its integer operand and that operand's zero point, and gives the same operator on
integers (possibly one call inside another), or None.
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
    if attributes is None:
        return None
    shape = spec_of(x).shape
    if len(shape) == 3:
        x = relax.op.reshape(x, (*shape[:2], 1, shape[2]))
    pooled = qnn.emit("max_pool", [x], attributes)
    return relax.op.reshape(pooled, spec_of(call).shape) if len(shape) == 3 else pooled


def window(call: Any) -> dict[str, Any] | None:
    """Attributes of a pooling operator; one spatial axis becomes two, the first of size one."""
    attrs, layout = call.attrs, str(call.attrs.layout)
    kernel, strides, dilation = ([int(v) for v in v] for v in (attrs.pool_size, attrs.strides, attrs.dilation))
    pads = [int(p) for p in attrs.padding]
    if layout == "NCW":
        kernel, strides, dilation = [1, *kernel], [1, *strides], [1, *dilation]
        pads = [0, pads[0], 0, pads[-1]]
        size, result = [1, spec_of(call.args[0]).shape[2]], [1, spec_of(call).shape[2]]
    elif layout in ("NHWC", "NCHW"):
        first = layout.index("H")
        size, result = (list(spec_of(e).shape[first : first + 2]) for e in (call.args[0], call))
        pads = pads if len(pads) == 4 else [*pads, *pads]
    else:
        return None
    # A ceil-mode result reaches beyond the padding: there is more padding, then.
    for axis in range(2):
        reach = (result[axis] - 1) * strides[axis] + (kernel[axis] - 1) * dilation[axis] + 1
        pads[2 + axis] = max(pads[2 + axis], reach - size[axis] - pads[axis])
        if (size[axis] + pads[axis] + pads[2 + axis] - reach) // strides[axis] != 0:
            return None
    layout = "NCHW" if layout == "NCW" else layout
    return {"layout": layout, "kernel": kernel, "strides": strides, "dilation": dilation, "pads": pads}


def resize(call: Any, x: Any, zero_point: int) -> Any:
    """Nearest-neighbour resizing picks rows and columns: one gather inside the other."""
    attrs = call.attrs
    if str(attrs.method) != "nearest_neighbor" or str(attrs.layout) != "NCHW":
        return None
    size, result = spec_of(x).shape, spec_of(call).shape
    mode, rounding = str(attrs.coordinate_transformation_mode), str(attrs.rounding_method)
    for axis in (2, 3):
        picked = _nearest(size[axis], result[axis], mode, rounding)
        if picked is None:
            return None
        if list(picked) != list(range(size[axis])):
            x = qnn.emit("gather", [x, relax.const(picked)], {"axis": axis})
    return x


def _nearest(size: int, result: int, mode: str, rounding: str) -> np.ndarray | None:
    """Source index of each output position, by the formulas of ONNX Resize."""
    places, scale = np.arange(result, dtype=np.float64), result / size
    if mode == "half_pixel":
        source = (places + 0.5) / scale - 0.5
    elif mode == "pytorch_half_pixel":
        source = (places + 0.5) / scale - 0.5 if result > 1 else np.zeros(1)
    elif mode == "asymmetric":
        source = places / scale
    elif mode == "align_corners":
        source = places * (size - 1) / (result - 1) if result > 1 else np.zeros(1)
    else:
        return None
    # Exact halves decide; wash out the noise of the division before rounding.
    source = np.round(source, 9)
    rounded = {
        "round_prefer_floor": np.ceil(source - 0.5),
        "round_prefer_ceil": np.floor(source + 0.5),
        "round": np.floor(source + 0.5),
        "floor": np.floor(source),
        "ceil": np.ceil(source),
    }.get(rounding)
    return None if rounded is None else np.clip(rounded, 0, size - 1).astype(np.int32)


def pad(call: Any, x: Any, zero_point: int) -> Any:
    """Padding of integers; a float pad value must be zero, which is the zero point."""
    value = int(float(call.attrs.pad_value)) if _is_integer(call.args[0]) else zero_point
    if str(call.attrs.pad_mode) != "constant" or (not _is_integer(call.args[0]) and float(call.attrs.pad_value) != 0):
        return None
    return padded(call, x, value)


def padded(call: Any, x: Any, value: int) -> Any:
    """Constant padding with a known integer."""
    if str(call.attrs.pad_mode) != "constant":
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
    if call.attrs.axis is None:
        return None
    if indices is None:
        return relax.op.take(x, call.args[1], axis=int(call.attrs.axis), mode=str(call.attrs.mode))
    axis = int(call.attrs.axis) % len(shape)
    indices = np.where(indices < 0, indices + shape[axis], indices).astype(np.int32)
    if indices.size == 0 or indices.min() < 0 or indices.max() >= shape[axis]:
        return None
    return qnn.emit("gather", [x, relax.const(indices)], {"axis": axis})


def broadcast_to(call: Any, x: Any, zero_point: int) -> Any:
    return relax.op.broadcast_to(x, spec_of(call).shape)


def largest(call: Any, x: Any, zero_point: int) -> Any:
    """The maximum along axes; over whole images it is a pool."""
    shape = spec_of(x).shape
    axes = sorted(int(a) % len(shape) for a in call.attrs.axis) if call.attrs.axis is not None else None
    if len(shape) == 4 and axes == [2, 3]:
        geometry = {"kernel": list(shape[2:]), "strides": [1, 1], "dilation": [1, 1], "pads": [0] * 4}
        pooled = qnn.emit("max_pool", [x], {"layout": "NCHW", **geometry})
        return pooled if bool(call.attrs.keepdims) else relax.op.reshape(pooled, spec_of(call).shape)
    return relax.op.max(x, axis=axes, keepdims=bool(call.attrs.keepdims))


def smallest(call: Any, x: Any, zero_point: int) -> Any:
    axes = [int(a) for a in call.attrs.axis] if call.attrs.axis is not None else None
    return relax.op.min(x, axis=axes, keepdims=bool(call.attrs.keepdims))


def _integers(argument: Any) -> list[int] | None:
    """A tuple of constant integers."""
    try:
        return [int(field.value) for field in argument.fields]
    except (AttributeError, TypeError):
        return None


def _is_integer(expression: Any) -> bool:
    return not spec_of(expression).dtype.startswith("float")


MOVEMENTS: dict[str, Callable[[Any, Any, int], Any]] = {
    "relax.broadcast_to": broadcast_to,
    "relax.max": largest,
    "relax.min": smallest,
    "relax.reshape": reshape,
    "relax.expand_dims": reshape,
    "relax.squeeze": reshape,
    "relax.flatten": reshape,
    "relax.permute_dims": permute_dims,
    "relax.image.resize2d": resize,
    "relax.nn.max_pool1d": max_pool,
    "relax.nn.max_pool2d": max_pool,
    "relax.nn.pad": pad,
    "relax.strided_slice": strided_slice,
    "relax.take": take,
}


def moved_constant(call: Any, x: Any) -> Any:
    """A moved constant is a constant."""
    array, move = constant(x), movement(call)
    return relax.const(np.array(move(array), order="C")) if array is not None and move is not None else None
