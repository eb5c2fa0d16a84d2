"""Operators that only move elements, written so that the integer passes recognise them: Pad, Gather, Tile.

Each falls back to TVM's own converter where its operands are not constant.
"""

from typing import Any

import numpy as np
import tvm
from tvm import relax

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.limits import check_shape
from tvm_pulp.frontend.onnx_conversion import Conversion
from tvm_pulp.frontend.relax_values import constant, dtype_of

# Modes that pick positions; numpy has the same names.
_PICKING = ("reflect", "edge", "wrap")


def pad(c: Conversion) -> Any:
    """Constant padding; the other modes pick rows, negative widths cut them off."""
    x, given_pads, given_value, given_axes = c.operands(4)
    shape, mode = c.shape(), c.text("mode", "constant")
    pads = np.array(c.attributes.get("pads", [])) if given_pads is None else c.constant(1)
    value = np.array([c.attributes.get("value", 0.0)]) if given_value is None else _known(c, given_value)
    axes = np.arange(len(shape)) if given_axes is None else c.constant(3)
    if pads is None or value is None or axes is None or mode not in ("constant", *_PICKING):
        return c.stock()
    if pads.size != 2 * axes.size or value.size != 1:
        raise UserError(f"Pad: {pads.size} widths do not fit {axes.size} axes: export the model again")
    width = np.zeros((len(shape), 2), np.int64)
    width[axes.astype(np.int64) % len(shape)] = pads.reshape(2, -1).T
    result = [int(d) for d in np.array(shape, np.int64) + width.sum(axis=1)]
    refuse_if(min(result, default=1) < 1, f"Pad: the result of shape {result} is empty: check the widths")
    check_shape("the result of Pad", result, 4)
    for axis, (before, after) in enumerate(np.minimum(width, 0)):
        if before or after:
            x = c.take(x, np.arange(-before, shape[axis] + after), axis)
    width = np.maximum(width, 0)
    if mode == "constant":
        flat = [int(w) for w in width.reshape(-1)]
        return relax.op.nn.pad(x, flat, "constant", float(value.reshape(-1)[0])) if any(flat) else x
    kind: Any = mode
    for axis, (before, after) in enumerate(width):
        if before or after:
            places = np.arange(int(x.ty.shape.values[axis]))
            x = c.take(x, np.pad(places, (int(before), int(after)), mode=kind), axis)
    return x


def _known(c: Conversion, value: Any) -> np.ndarray | None:
    """A constant; quantizers store those of floats as integers, too."""
    held = constant(value)
    made = c.importer.bb.lookup_binding(value) if held is None and isinstance(value, relax.Var) else None
    if not isinstance(made, relax.Call) or made.op != tvm.ir.Op.get("relax.dequantize"):
        return held
    integers, scale, zero_point = (constant(a) for a in made.args)
    if integers is None or scale is None or zero_point is None or scale.size != 1:
        return None
    centred = integers.astype(np.int64) - zero_point.astype(np.int64)
    return np.asarray(centred.astype(np.float32) * scale.astype(np.float32))


def gather(c: Conversion) -> Any:
    """Indices count from the end where they are negative."""
    data, indices = c.inputs[:2]
    if isinstance(data.ty, relax.ShapeType) or isinstance(indices.ty, relax.ShapeType):
        return c.stock()
    picked, shape, axis = c.constant(1), c.shape(), int(c.attributes.get("axis", 0))
    if not shape or not -len(shape) <= axis < len(shape):
        raise UserError(f"Gather: axis {axis} does not exist in shape {shape}: export the model again")
    size = shape[axis]
    if picked is None:
        dtype = dtype_of(indices)
        negative = relax.op.less(indices, relax.const(0, dtype))
        picked_now = c.emit(relax.op.where(negative, relax.op.add(indices, relax.const(size, dtype)), indices))
        # Whatever the indices are, nothing outside of the tensor is read.
        return relax.op.take(data, picked_now, axis=axis % len(shape), mode="clip")
    if picked.size and (picked.min() < -size or picked.max() >= size):
        raise UserError(f"Gather: an index lies outside an axis of {size} elements: check the model")
    whole = np.asarray(np.where(picked < 0, picked + size, picked), np.int64)
    values = c.constant(0)
    if values is not None:
        check_shape("the result of Gather", np.shape(whole), 4)
        return relax.const(np.ascontiguousarray(np.take(values, whole, axis=axis)))
    return relax.op.take(data, relax.const(whole), axis=axis % len(shape))


def tile(c: Conversion) -> Any:
    """Repetition picks the same rows again."""
    x, repeats, shape = c.inputs[0], c.constant(1), c.shape()
    if repeats is None or repeats.size != len(shape):
        return c.stock()
    counts = [int(r) for r in repeats.reshape(-1)]
    check_shape("the result of Tile", [d * n for d, n in zip(shape, counts, strict=True)], 4)
    refuse_if(min(counts, default=1) < 1, f"Tile: repeats {counts} leave nothing: check the model")
    for axis, count in enumerate(counts):
        if count > 1:
            x = c.take(x, np.tile(np.arange(shape[axis]), count), axis)
    return x
