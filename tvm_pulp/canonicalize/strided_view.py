"""Strides that reach every element of a tensor that was only moved, in the tensor that it was moved from."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, is_op, spec_of


@dataclass(frozen=True)
class StridedView:
    """Element (h, s, d) is number offset + h // group * head_stride + s * stride + d of `source`, through `table`."""

    source: Any
    offset: int
    head_stride: int
    stride: int
    group: int
    # The function that was applied to the bytes on the way, None for none.
    table: np.ndarray | None


def strided_view(pass_: Rewriter, expression: Any, *, transposed: bool = False) -> StridedView | None:
    """The view behind [..., s, d] ([..., d, s] if `transposed`), leading axes as heads; None where there is none."""
    source, moves, table = _source(pass_, expression)
    index = np.arange(spec_of(source).elements).reshape(spec_of(source).shape)
    for call in reversed(moves):
        index = _moved(call, index)
    index = index.swapaxes(-1, -2) if transposed else index
    found = _strides(index.reshape(-1, *index.shape[-2:]))
    return None if found is None else StridedView(source, *found, table)


def _source(pass_: Rewriter, expression: Any) -> tuple[Any, list[Any], np.ndarray | None]:
    """The tensor that was moved, the movements last first, and a table of what happened to its bytes."""
    moves: list[Any] = []
    table: np.ndarray | None = None
    # Tables are passed only where a movement comes before them.
    result: tuple[Any, list[Any], np.ndarray | None] = (expression, [], None)
    while True:
        call = pass_.definition(expression)
        if qnn.is_qnn(call, "lookup"):
            inner = constant(call.args[1])
            table = inner if table is None else qnn.looked_up(table, inner)
        elif _is_movement(call):
            moves.append(pass_.builder.normalize(call))
        else:
            return result
        expression = call.args[0]
        if _is_movement(call):
            result = (expression, list(moves), table)


def _is_movement(call: Any) -> bool:
    return qnn.is_qnn(call, "transpose", "slice") or is_op(call, "relax.reshape", "relax.broadcast_to")


def _moved(call: Any, index: np.ndarray) -> np.ndarray:
    if is_op(call, "relax.reshape"):
        return index.reshape(spec_of(call).shape)
    if is_op(call, "relax.broadcast_to"):
        return np.broadcast_to(index, spec_of(call).shape)
    return qnn.OPERATORS[qnn.name_of(call)].reference(qnn.attributes(call), [index])


def _strides(index: np.ndarray) -> tuple[int, int, int, int] | None:
    """offset, head stride, stride and group of a table of places [h, s, d]."""
    heads, positions, size = index.shape
    offset = int(index[0, 0, 0])
    stride = int(index[0, 1, 0]) - offset if positions > 1 else size
    others = np.flatnonzero(index[:, 0, 0] != offset)
    group = int(others[0]) if others.size else heads
    head_stride = int(index[group, 0, 0]) - offset if others.size else positions * size
    head = np.arange(heads)[:, None, None] // group * head_stride
    expected = offset + head + np.arange(positions)[:, None] * stride + np.arange(size)
    if min(stride, head_stride) < 0 or (index != expected).any():
        return None
    return offset, head_stride, stride, group
