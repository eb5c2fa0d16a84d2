"""The graph of a decoder for a number of tokens and a number of tokens before them.

Masks and positions are known then: everything before is visible, and counting goes on. Shape arithmetic is gone, and
whatever else depends on nothing but lengths.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import helper, numpy_helper

from tvm_pulp.errors import UserError
from tvm_pulp.frontend import onnx_file
from tvm_pulp.frontend.onnx_protos import alive, constants_of, copied, replace_all
from tvm_pulp.frontend.onnx_shapes import fold_shapes
from tvm_pulp.language_models.exported.roles import Roles


@dataclass
class Specialized:
    """The graph for `rows` tokens after `past` others, and the constants of it."""

    past: int
    rows: int
    graph: Any
    values: dict[str, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True)
class OpenGraph:
    """A program of `torch.export` with open lengths, and the graph that is made of it for some: inputs by name."""

    program: Any
    graph: onnx_file.Graph

    @property
    def model(self) -> Any:
        return self.graph.model

    @property
    def opset(self) -> int:
        return self.graph.opset

    def at(self, shapes: Mapping[str, list[int]]) -> Any:
        """The model for inputs of these shapes."""
        return onnx_file.from_model(self.program.at(shapes)).model


def specialize(source: onnx_file.Graph | OpenGraph, roles: Roles, past: int, rows: int) -> Specialized:
    """Lengths put in."""
    axes, steady = {c.past: c.axis for c in roles.caches}, {role.name: role.shape for role in roles.given}
    constants = {i.name for i in source.model.graph.initializer}
    given = {i.name: i for i in source.model.graph.input if i.name not in constants}
    shapes: dict[str, list[int]] = {}
    for name, value in given.items():
        rank = len(value.type.tensor_type.shape.dim)
        if name in axes:
            shapes[name] = [_size(value, axis, past if axis == axes[name] else None) for axis in range(4)]
            continue
        if name in steady:
            shapes[name] = [int(d) for d in steady[name]]
            continue
        if name != roles.tokens and rank not in (1, 2):
            raise UserError(f"input '{name}' has {rank} axes, not [batch, length]: export it so")
        shapes[name] = [1] * (rank - 1) + [past + rows if name in roles.masks else rows]
    model = source.at(shapes) if isinstance(source, OpenGraph) else source.model
    graph = copied(model.graph)
    kept, known = [i for i in graph.input if i.name not in given], []
    for name, value in given.items():
        element = value.type.tensor_type.elem_type
        if name in roles.masks or name in roles.positions:
            array = np.ones(past + rows) if name in roles.masks else np.arange(past, past + rows)
            typed = array.astype(helper.tensor_dtype_to_np_dtype(element)).reshape(shapes.pop(name))
            known.append(numpy_helper.from_array(typed, name))
        else:
            kept.append(helper.make_tensor_value_info(name, element, shapes[name]))
    replace_all(graph.input, kept)
    wanted = {roles.logits, *(c.present for c in roles.caches)}
    replace_all(graph.output, [o for o in graph.output if o.name in wanted])
    graph.initializer.extend(known)
    folded_graph, folded = fold_shapes(graph, model.opset_import, shapes, source.opset)
    # What an encoder is given may have been looked at for its shape alone.
    folded_graph = alive(folded_graph) if roles.given else folded_graph
    values = constants_of(folded_graph) | folded
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
