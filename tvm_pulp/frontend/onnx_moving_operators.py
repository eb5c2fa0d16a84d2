"""Operators that only move elements, written so that the integer passes recognise them: Pad, Gather, Tile.

Each falls back to TVM's own converter where its operands are not constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import tvm
from tvm import relax

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.limits import check_shape
from tvm_pulp.frontend.relax_constant import constant

if TYPE_CHECKING:
    from tvm_pulp.frontend.onnx_importer import Importer

# How positions outside are found; numpy's names.
_PAD_MODES = {"reflect": "reflect", "edge": "edge", "wrap": "wrap"}


def pad(importer: Importer, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
    """Constant padding; the other modes pick rows, negative widths cut them off."""
    x, shape = inputs[0], [int(d) for d in inputs[0].ty.shape.values]
    mode = attrs.get("mode", b"constant")
    mode = mode.decode("ascii", "replace") if isinstance(mode, bytes) else mode
    given = [*inputs[1:], None, None, None][:3]
    pads = np.array(attrs.get("pads", [])) if given[0] is None else constant(given[0])
    value = np.array([attrs.get("value", 0.0)]) if given[1] is None else _known(importer, given[1])
    axes = np.arange(len(shape)) if given[2] is None else constant(given[2])
    if pads is None or value is None or axes is None or (mode != "constant" and mode not in _PAD_MODES):
        return importer.stock("Pad", inputs, attrs, opset)
    if pads.size != 2 * axes.size or value.size != 1:
        raise UserError(f"Pad: {pads.size} widths do not fit {axes.size} axes: export the model again")
    width = np.zeros((len(shape), 2), np.int64)
    for place, axis in enumerate(int(a) % len(shape) for a in axes):
        width[axis] = pads[place], pads[place + axes.size]
    result = [int(d) + int(w.sum()) for d, w in zip(shape, width, strict=True)]
    refuse_if(min(result, default=1) < 1, f"Pad: the result of shape {result} is empty: check the widths")
    check_shape("the result of Pad", result, 4)
    x = _cut(importer, x, shape, np.minimum(width, 0))
    width = np.maximum(width, 0)
    if mode == "constant":
        flat = [int(w) for w in width.reshape(-1)]
        return relax.op.nn.pad(x, flat, "constant", float(value.reshape(-1)[0])) if any(flat) else x
    for axis, (before, after) in enumerate(width):
        if before or after:
            places = np.arange(int(x.ty.shape.values[axis]))
            kind: Any = _PAD_MODES[mode]
            x = _take(importer, x, np.pad(places, (int(before), int(after)), mode=kind), axis)
    return x


def _known(importer: Importer, value: Any) -> np.ndarray | None:
    """A constant; quantizers store those of floats as integers, too."""
    held = constant(value)
    made = importer.bb.lookup_binding(value) if held is None and isinstance(value, relax.Var) else None
    if not isinstance(made, relax.Call) or made.op != tvm.ir.Op.get("relax.dequantize"):
        return held
    integers, scale, zero_point = (constant(a) for a in made.args)
    if integers is None or scale is None or zero_point is None or scale.size != 1:
        return None
    centred = integers.astype(np.int64) - zero_point.astype(np.int64)
    return np.asarray(centred.astype(np.float32) * scale.astype(np.float32))


def _cut(importer: Importer, x: Any, shape: list[int], width: np.ndarray) -> Any:
    for axis, (before, after) in enumerate(width):
        if before or after:
            x = _take(importer, x, np.arange(-before, shape[axis] + after), axis)
    return x


def _take(importer: Importer, x: Any, indices: np.ndarray, axis: int) -> Any:
    return importer.bb.emit(relax.op.take(x, relax.const(np.asarray(indices, np.int64)), axis=axis))


def gather(importer: Importer, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
    """Indices count from the end where they are negative."""
    data, indices = inputs[:2]
    if isinstance(data.ty, relax.ShapeType) or isinstance(indices.ty, relax.ShapeType):
        return importer.stock("Gather", inputs, attrs, opset)
    picked, shape = constant(indices), [int(d) for d in data.ty.shape.values]
    axis = int(attrs.get("axis", 0))
    if not shape or not -len(shape) <= axis < len(shape):
        raise UserError(f"Gather: axis {axis} does not exist in shape {shape}: export the model again")
    size = shape[axis]
    if picked is None:
        negative = relax.op.less(indices, relax.const(0, str(indices.ty.dtype.dtype)))
        raised = relax.op.add(indices, relax.const(size, str(indices.ty.dtype.dtype)))
        picked_now = importer.bb.emit(relax.op.where(negative, raised, indices))
        # Whatever the indices are, nothing outside of the tensor is read.
        return relax.op.take(data, picked_now, axis=axis % len(shape), mode="clip")
    if picked.size and (picked.min() < -size or picked.max() >= size):
        raise UserError(f"Gather: an index lies outside an axis of {size} elements: check the model")
    whole = np.asarray(np.where(picked < 0, picked + size, picked), np.int64)
    values = constant(data)
    if values is not None:
        check_shape("the result of Gather", np.shape(whole), 4)
        return relax.const(np.ascontiguousarray(np.take(values, whole, axis=axis)))
    return relax.op.take(data, relax.const(whole), axis=axis % len(shape))


def tile(importer: Importer, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
    """Repetition picks the same rows again."""
    x, repeats = inputs[0], constant(inputs[1])
    shape = [int(d) for d in x.ty.shape.values]
    if repeats is None or repeats.size != len(shape):
        return importer.stock("Tile", inputs, attrs, opset)
    counts = [int(r) for r in repeats.reshape(-1)]
    check_shape("the result of Tile", [d * c for d, c in zip(shape, counts, strict=True)], 4)
    refuse_if(min(counts, default=1) < 1, f"Tile: repeats {counts} leave nothing: check the model")
    for axis, count in enumerate(counts):
        if count > 1:
            x = _take(importer, x, np.tile(np.arange(shape[axis]), count), axis)
    return x
