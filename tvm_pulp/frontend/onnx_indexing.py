"""Operators that read or write a tensor at given positions, by positions in the flat tensor."""

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.errors import UserError
from tvm_pulp.frontend.onnx_conversion import Conversion
from tvm_pulp.frontend.relax_values import constant, shape_of
from tvm_pulp.qnn.scatter import REDUCTIONS


def _nd_positions(c: Conversion, batch: int) -> tuple[Any, list[int], list[int]]:
    """Positions of the rows that every row of indices names, and the shapes that are picked from and left."""
    shape, places = c.shape(0), c.shape(1)
    depth = places[-1] if places else 0
    if not 0 <= batch < len(places) or batch + depth > len(shape) or shape[:batch] != places[:batch]:
        raise UserError(f"indices of shape {places} do not fit data of shape {shape} with batch_dims {batch}")
    picked, rest = shape[: batch + depth], shape[batch + depth :]
    strides, offsets = _strides(picked), _offsets(places[:-1], range(batch), _strides(picked))
    return _flat(c, c.inputs[1], picked[batch:], strides[batch:], offsets), picked, rest


def gather_nd(c: Conversion) -> Any:
    """data[i0, i1, ...] for every row of indices; the first `batch_dims` axes belong together."""
    flat, picked, rest = _nd_positions(c, int(c.attributes.get("batch_dims", 0)))
    return _rows(c, [math.prod(picked), *rest], flat)


def _element_positions(c: Conversion) -> Any:
    """Positions of the elements at the same place but on one axis, where the index says."""
    shape, places, indices = c.shape(0), c.shape(1), c.inputs[1]
    rank, axis = len(shape), int(c.attributes.get("axis", 0))
    fits = rank == len(places) and -rank <= axis < rank
    if not fits or any(p > d for n, (p, d) in enumerate(zip(places, shape, strict=True)) if n != axis % rank):
        raise UserError(f"indices of shape {places} do not fit axis {axis} of data of shape {shape}")
    axis %= rank
    strides, known = _strides(shape), c.constant(1)
    offsets = _offsets(places, (a for a in range(rank) if a != axis), strides)
    apart = c.emit(relax.op.reshape(indices, [*places, 1])) if known is None else relax.const(known[..., None])
    return _flat(c, apart, [shape[axis]], [strides[axis]], offsets)


def gather_elements(c: Conversion) -> Any:
    return _rows(c, [math.prod(c.shape(0))], _element_positions(c))


def scatter_nd(c: Conversion) -> Any:
    flat, picked, rest = _nd_positions(c, 0)
    return _scattered(c, flat, math.prod(picked), math.prod(rest), [*c.shape(1)[:-1], *rest])


def scatter_elements(c: Conversion) -> Any:
    return _scattered(c, _element_positions(c), math.prod(c.shape(0)), 1, c.shape(1))


def _scattered(c: Conversion, flat: Any, rows: int, width: int, wanted: list[int]) -> Any:
    """The first operand with rows changed by those of the third, which has a shape that is `wanted`."""
    shape, found, reduction = c.shape(0), c.shape(2), c.text("reduction", "none")
    if found != wanted or reduction not in REDUCTIONS:
        problem = f"updates of shape {found} and reduction '{reduction}' do not fit indices of shape {c.shape(1)}"
        raise UserError(f"{problem} and data of shape {shape}: export the model again")
    count = math.prod(shape_of(flat))
    operands = zip((c.inputs[0], flat, c.inputs[2]), ([rows, width], [count], [count, width]), strict=True)
    views = [c.emit(relax.op.reshape(value, view)) for value, view in operands]
    return relax.op.reshape(c.emit(qnn.emit("scatter", views, {"reduction": reduction})), shape)


def _strides(shape: list[int]) -> list[int]:
    return [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]


def _offsets(places: list[int], axes: Iterable[int], strides: list[int]) -> np.ndarray:
    """Positions that follow from an index's own place along some axes."""
    offsets = np.zeros(places, np.int64)
    for axis in axes:
        steps = np.arange(places[axis]) * strides[axis]
        offsets += steps.reshape([-1 if a == axis else 1 for a in range(len(places))])
    return offsets


def _rows(c: Conversion, shape: list[int], positions: Any) -> Any:
    return relax.op.take(c.emit(relax.op.reshape(c.inputs[0], shape)), positions, axis=0)


def _flat(c: Conversion, indices: Any, sizes: list[int], strides: list[int], offsets: np.ndarray) -> Any:
    """Positions in the flat tensor; indices below zero count from the end."""
    known, ends, steps = constant(indices), np.array(sizes, np.int64), np.array(strides, np.int64)
    if known is not None:
        if ((known < -ends) | (known >= ends)).any():
            raise UserError(f"an index lies outside axes of {sizes} elements: check the model")
        whole = np.where(known < 0, known + ends, known)
        return relax.const(np.asarray((whole * steps).sum(-1) + offsets, np.int64))
    whole = c.from_end(c.emit(relax.op.astype(indices, "int64")), ends)
    total = c.emit(relax.op.sum(c.emit(relax.op.multiply(whole, relax.const(steps, "int64"))), axis=-1))
    return c.emit(relax.op.add(total, relax.const(offsets, "int64"))) if offsets.any() else total


CONVERTERS: dict[str, Callable[[Conversion], Any]] = {
    "GatherElements": gather_elements,
    "GatherND": gather_nd,
    "Scatter": scatter_elements,
    "ScatterElements": scatter_elements,
    "ScatterND": scatter_nd,
}
