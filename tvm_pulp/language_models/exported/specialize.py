"""The graph of a decoder for a number of tokens and a number of tokens before them.

Masks and positions are known then: everything before is visible, and counting goes on. Shape arithmetic is gone, and
whatever else depends on nothing but lengths.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from tvm_pulp.errors import UserError
from tvm_pulp.frontend.onnx_shapes import fold_shapes
from tvm_pulp.language_models.exported.roles import Roles


@dataclass
class Specialized:
    """The graph for `rows` tokens after `past` others, and the constants of it."""

    past: int
    rows: int
    graph: Any
    values: dict[str, np.ndarray] = field(default_factory=dict)


def specialize(model: Any, opset: int, roles: Roles, past: int, rows: int) -> Specialized:
    """Lengths put in."""
    graph = onnx.GraphProto()
    graph.CopyFrom(model.graph)
    shapes: dict[str, list[int]] = {}
    kept, known = [], []
    constants = {i.name for i in graph.initializer}
    axes = {c.past: c.axis for c in roles.caches}
    for value in graph.input:
        name, kind = value.name, value.type.tensor_type
        if name in constants:
            kept.append(value)
            continue
        rank = len(kind.shape.dim)
        if name in roles.masks or name in roles.positions:
            last = past + rows if name in roles.masks else rows
            if rank not in (1, 2):
                raise UserError(f"input '{name}' has {rank} axes, not [batch, length]: export it so")
            array = np.ones(last) if name in roles.masks else np.arange(past, past + rows)
            dtype = helper.tensor_dtype_to_np_dtype(kind.elem_type)
            known.append(numpy_helper.from_array(array.astype(dtype).reshape((1,) * (rank - 1) + (last,)), name))
            continue
        if name in axes:
            shapes[name] = [_size(value, axis, past if axis == axes[name] else None) for axis in range(4)]
        else:
            shapes[name] = [1] * (rank - 1) + [rows]
        kept.append(helper.make_tensor_value_info(name, kind.elem_type, shapes[name]))
    del graph.input[:]
    graph.input.extend(kept)
    graph.initializer.extend(known)
    folded_graph, folded = fold_shapes(graph, model.opset_import, shapes, opset)
    values = {i.name: numpy_helper.to_array(i) for i in folded_graph.initializer} | folded
    return Specialized(past, rows, folded_graph, values)


def _size(value: Any, axis: int, length: int | None) -> int:
    """An axis of a cache: the length, the batch of one, or what the file says."""
    dim = value.type.tensor_type.shape.dim[axis]
    if length is not None:
        return length
    if axis == 0:
        return 1
    if not dim.HasField("dim_value") or dim.dim_value < 1:
        raise UserError(f"input '{value.name}': heads and head size must be numbers: export it with fixed ones")
    return int(dim.dim_value)
