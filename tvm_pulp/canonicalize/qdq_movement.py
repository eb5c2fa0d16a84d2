"""Operators that move or select integers; they commute with dequantize.

Each function takes the call, its integer operand and that operand's zero point, and gives the same operator on
integers (possibly one call inside another), or None.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.qdq_operands import RESHAPES, movement
from tvm_pulp.canonicalize.rewriter import Mismatch, constant, integers, needed, or_none, require, spec_of
from tvm_pulp.window import Window


def permute_dims(call: Any, x: Any, zero_point: int) -> Any:
    rank = len(spec_of(x).shape)
    axes = [int(a) % rank for a in call.attrs.axes] if call.attrs.axes else list(range(rank))[::-1]
    return qnn.emit("transpose", [x], {"axes": axes})


@or_none
def max_pool(call: Any, x: Any, zero_point: int) -> Any:
    attributes, shape = needed(window(call)), spec_of(x).shape
    if len(shape) == 4:
        return qnn.emit("max_pool", [x], attributes)
    image = relax.op.reshape(x, (*shape[:2], 1, shape[2]))
    return relax.op.reshape(qnn.emit("max_pool", [image], attributes), spec_of(call).shape)


def steps(call: Any) -> dict[str, Any]:
    """Strides, dilation and pads of a window; one spatial axis becomes two, the first of size one."""
    strides, dilation, pads = (integers(call.attrs[name]) for name in ("strides", "dilation", "padding"))
    rank = len(strides)
    ones, zeros = [1] * (2 - rank), [0] * (2 - rank)
    ends = [*zeros, *pads[:rank], *zeros, *pads[-rank:]]
    return {"strides": [*ones, *strides], "dilation": [*ones, *dilation], "pads": ends}


@or_none
def window(call: Any) -> dict[str, Any]:
    """Attributes of a pooling operator, as of `steps`."""
    kernel, layout, found = integers(call.attrs.pool_size), str(call.attrs.layout), steps(call)
    strides, dilation, pads = found["strides"], found["dilation"], found["pads"]
    if layout == "NCW":
        kernel = [1, *kernel]
        size, result = [1, spec_of(call.args[0]).shape[2]], [1, spec_of(call).shape[2]]
    else:
        require(layout in ("NHWC", "NCHW"))
        first = layout.index("H")
        size, result = (list(spec_of(e).shape[first : first + 2]) for e in (call.args[0], call))
    # A ceil-mode result reaches beyond the padding: there is more padding, then.
    for axis in range(2):
        moves = Window(kernel[axis], strides[axis], dilation[axis], pads[axis])
        pads[2 + axis] = max(pads[2 + axis], moves.padding_after(result[axis], size[axis]))
        require(replace(moves, after=pads[2 + axis]).output_extent(size[axis]) == result[axis])
    layout = "NCHW" if layout == "NCW" else layout
    return {**found, "layout": layout, "kernel": kernel}


def whole_image(shape: tuple[int, ...]) -> dict[str, Any]:
    """Attributes of a pool over all pixels of images, channels first."""
    return {"layout": "NCHW", "kernel": list(shape[2:]), "strides": [1, 1], "dilation": [1, 1], "pads": [0] * 4}


def axes_of(call: Any, otherwise: Iterable[int]) -> list[int]:
    """The axes of a reduction in order, none of them negative; `otherwise` where it does not name any."""
    rank = len(spec_of(call.args[0]).shape)
    return list(otherwise) if call.attrs.axis is None else sorted(int(a) % rank for a in call.attrs.axis)


@or_none
def resize(call: Any, x: Any, zero_point: int) -> Any:
    """Nearest-neighbour resizing picks rows and columns: one gather inside the other."""
    attrs = call.attrs
    require(str(attrs.method) == "nearest_neighbor" and str(attrs.layout) == "NCHW")
    size, result = spec_of(x).shape, spec_of(call).shape
    mode, rounding = str(attrs.coordinate_transformation_mode), str(attrs.rounding_method)
    for axis in (2, 3):
        picked = _nearest(size[axis], result[axis], mode, rounding)
        if list(picked) != list(range(size[axis])):
            x = qnn.emit("gather", [x, picked], {"axis": axis})
    return x


def _nearest(size: int, result: int, mode: str, rounding: str) -> np.ndarray:
    """Source index of each output position, by the formulas of ONNX Resize."""
    places, scale = np.arange(result, dtype=np.float64), result / size
    half_pixel, first = (places + 0.5) / scale - 0.5, np.zeros(1)
    source = {
        "half_pixel": half_pixel,
        "pytorch_half_pixel": half_pixel if result > 1 else first,
        "asymmetric": places / scale,
        "align_corners": places * (size - 1) / (result - 1) if result > 1 else first,
    }.get(mode)
    # Exact halves decide; wash out the noise of the division before rounding.
    source = np.round(needed(source), 9)
    rounded = {
        "round_prefer_floor": np.ceil(source - 0.5),
        "round_prefer_ceil": np.floor(source + 0.5),
        "round": np.floor(source + 0.5),
        "floor": np.floor(source),
        "ceil": np.ceil(source),
    }.get(rounding)
    return np.clip(needed(rounded), 0, size - 1).astype(np.int32)


@or_none
def pad(call: Any, x: Any, zero_point: int) -> Any:
    """Padding of integers; a float pad value must be zero, which is the zero point."""
    is_float, value = spec_of(call.args[0]).dtype.startswith("float"), float(call.attrs.pad_value)
    require(not is_float or value == 0)
    return padded(call, x, zero_point if is_float else int(value))


@or_none
def padded(call: Any, x: Any, value: int) -> Any:
    """Constant padding with a known integer."""
    require(str(call.attrs.pad_mode) == "constant")
    width = integers(call.attrs.pad_width)
    return qnn.emit("pad", [x], {"before": width[::2], "after": width[1::2], "value": value})


@or_none
def strided_slice(call: Any, x: Any, zero_point: int) -> Any:
    axes, begins, ends, *steps = (_integers(a) for a in call.args[1:])
    shape = spec_of(x).shape
    begin, stride, size = [0] * len(shape), [1] * len(shape), list(shape)
    every_step = (steps[0] if steps else None) or [1] * len(axes)
    for axis, first, last, step in zip(axes, begins, ends, every_step, strict=True):
        picked = range(shape[axis])[slice(first, last, step)]
        begin[axis], stride[axis], size[axis] = picked.start, picked.step, len(picked)
    require(0 not in size)
    return qnn.emit("slice", [x], {"begin": begin, "stride": stride, "size": size})


@or_none
def take(call: Any, x: Any, zero_point: int) -> Any:
    indices, shape = constant(call.args[1]), spec_of(x).shape
    require(call.attrs.axis is not None)
    if indices is None:
        return relax.op.take(x, call.args[1], axis=int(call.attrs.axis), mode=str(call.attrs.mode))
    axis = int(call.attrs.axis) % len(shape)
    indices = np.where(indices < 0, indices + shape[axis], indices).astype(np.int32)
    require(indices.size and indices.min() >= 0 and indices.max() < shape[axis])
    return qnn.emit("gather", [x, indices], {"axis": axis})


def largest(call: Any, x: Any, zero_point: int) -> Any:
    """The maximum along axes; over whole images, lines of pixels and rows of tokens it is a pool."""
    shape, keepdims = spec_of(x).shape, bool(call.attrs.keepdims)
    axes = axes_of(call, ()) if call.attrs.axis is not None else None
    if len(shape) == 3 and axes in ([1], [2]):
        # Channels first, as an image of one row.
        line = x if axes == [2] else qnn.emit("transpose", [x], {"axes": [0, 2, 1]})
        image = (shape[0], shape[3 - axes[0]], 1, shape[axes[0]])
        pooled = qnn.emit("max_pool", [relax.op.reshape(line, image)], whole_image(image))
        return relax.op.reshape(pooled, spec_of(call).shape)
    if len(shape) == 4 and axes == [2, 3]:
        pooled = qnn.emit("max_pool", [x], whole_image(shape))
        return pooled if keepdims else relax.op.reshape(pooled, spec_of(call).shape)
    return relax.op.max(x, axis=axes, keepdims=keepdims)


def smallest(call: Any, x: Any, zero_point: int) -> Any:
    axes = axes_of(call, ()) if call.attrs.axis is not None else None
    return relax.op.min(x, axis=axes, keepdims=bool(call.attrs.keepdims))


def _integers(argument: Any) -> list[int]:
    try:
        return [int(field.value) for field in argument.fields]
    except (AttributeError, TypeError):
        raise Mismatch from None


MOVEMENTS: dict[str, Callable[[Any, Any, int], Any]] = {
    "relax.broadcast_to": lambda call, x, zero_point: relax.op.broadcast_to(x, spec_of(call).shape),
    "relax.max": largest,
    "relax.min": smallest,
    **dict.fromkeys(RESHAPES, lambda call, x, zero_point: relax.op.reshape(x, spec_of(call).shape)),
    "relax.permute_dims": permute_dims,
    "relax.image.resize2d": resize,
    "relax.nn.max_pool1d": max_pool,
    "relax.nn.max_pool2d": max_pool,
    "relax.nn.pad": pad,
    "relax.strided_slice": strided_slice,
    "relax.take": take,
    qnn.PREFIX + "take_along": lambda call, x, zero_point: relax.Call(call.op, [x, call.args[1]], call.attrs),
}


@or_none
def moved_constant(call: Any, x: Any) -> Any:
    move = needed(movement(call))
    moved = np.array(move(needed(constant(x))), order="C")
    # Without a type Relax makes 32 bits of 64.
    return relax.const(moved, str(moved.dtype))
