"""GatherND and GatherElements: positions become positions in the flat tensor, and those are picked like rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from tvm import relax

from tvm_pulp.errors import UserError
from tvm_pulp.frontend.relax_constant import constant

if TYPE_CHECKING:
    from tvm_pulp.frontend.onnx_importer import Importer


def gather_nd(importer: Importer, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
    """data[i0, i1, ...] for every row of indices; the first `batch_dims` axes belong together."""
    data, indices = inputs[:2]
    shape, places = _shape(data), _shape(indices)
    batch = int(attrs.get("batch_dims", 0))
    depth = places[-1] if places else 0
    if not 0 <= batch < len(places) or batch + depth > len(shape) or shape[:batch] != places[:batch]:
        raise UserError(f"indices of shape {places} do not fit data of shape {shape} with batch_dims {batch}")
    picked, rest = shape[: batch + depth], shape[batch + depth :]
    strides = [math.prod(picked[axis + 1 :]) for axis in range(batch + depth)]
    offsets = np.zeros([*places[:-1]], np.int64)
    for axis in range(batch):
        steps = np.arange(shape[axis]) * strides[axis]
        offsets += steps.reshape([-1 if a == axis else 1 for a in range(len(places) - 1)])
    flat = _flat(importer, indices, shape[batch : batch + depth], strides[batch:], offsets)
    rows = importer.bb.emit(relax.op.reshape(data, [math.prod(picked), *rest]))
    return relax.op.take(rows, flat, axis=0)


def gather_elements(importer: Importer, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
    """The element at the same place but on one axis, where the index says."""
    data, indices = inputs[:2]
    shape, places = _shape(data), _shape(indices)
    axis = int(attrs.get("axis", 0))
    fits = len(shape) == len(places) and -len(shape) <= axis < len(shape)
    if not fits or any(p > d for n, (p, d) in enumerate(zip(places, shape, strict=True)) if n != axis % len(shape)):
        raise UserError(f"indices of shape {places} do not fit axis {axis} of data of shape {shape}")
    axis %= len(shape)
    strides = [math.prod(shape[a + 1 :]) for a in range(len(shape))]
    offsets = np.zeros(places, np.int64)
    for other in (a for a in range(len(shape)) if a != axis):
        steps = np.arange(places[other]) * strides[other]
        offsets += steps.reshape([-1 if a == other else 1 for a in range(len(shape))])
    apart = importer.bb.emit(relax.op.reshape(indices, [*places, 1])) if constant(indices) is None else indices
    if constant(indices) is not None:
        apart = relax.const(np.asarray(constant(indices))[..., None])
    flat = _flat(importer, apart, [shape[axis]], [strides[axis]], offsets)
    rows = importer.bb.emit(relax.op.reshape(data, [math.prod(shape)]))
    return relax.op.take(rows, flat, axis=0)


def _shape(value: Any) -> list[int]:
    return [int(d) for d in value.ty.shape.values]


def _flat(importer: Importer, indices: Any, sizes: list[int], strides: list[int], offsets: np.ndarray) -> Any:
    """Positions in the flat tensor; indices below zero count from the end."""
    known = constant(indices)
    if known is not None:
        if (known.size and (known < -np.array(sizes)).any()) or (known >= np.array(sizes)).any():
            raise UserError(f"an index lies outside axes of {sizes} elements: check the model")
        whole = np.where(known < 0, known + np.array(sizes), known)
        return relax.const(np.asarray((whole * np.array(strides)).sum(-1) + offsets, np.int64))
    wide = importer.bb.emit(relax.op.astype(indices, "int64"))
    negative = relax.op.less(wide, relax.const(0, "int64"))
    raised = relax.op.add(wide, relax.const(np.array(sizes, np.int64), "int64"))
    whole = importer.bb.emit(relax.op.where(negative, raised, wide))
    weighted = importer.bb.emit(relax.op.multiply(whole, relax.const(np.array(strides, np.int64), "int64")))
    total = importer.bb.emit(relax.op.sum(weighted, axis=-1))
    return importer.bb.emit(relax.op.add(total, relax.const(offsets, "int64"))) if offsets.any() else total
