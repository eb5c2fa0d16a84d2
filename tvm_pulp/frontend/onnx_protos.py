"""Nodes and graphs of ONNX as protocol buffers: names, operands, attributes, copies."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

# Shapes and the like; longer constants are weights.
SHAPE_OPERAND = 1024


def label(proto: Any) -> str:
    """The node as messages name it."""
    return f"node '{name_of(proto)}' ({proto.op_type})"


def name_of(proto: Any) -> str:
    """A node's name; nodes without one are known by their first result."""
    return str(proto.name or result(proto, 0) or "?")


def attributes_of(proto: Any) -> dict[str, Any]:
    """Attributes of a node by name."""
    return {a.name: helper.get_attribute_value(a) for a in proto.attribute}


def operand(proto: Any, place: int) -> str:
    """Name of an operand; empty where it is left out."""
    return str(proto.input[place]) if place < len(proto.input) else ""


def result(proto: Any, place: int) -> str:
    """Name of a result; empty where it is left out."""
    return str(proto.output[place]) if place < len(proto.output) else ""


def known_operands(proto: Any, constants: Mapping[str, np.ndarray]) -> dict[str, np.ndarray] | None:
    """Constant operands of a node that reads nothing else; None for another."""
    found = {name: constants[name] for name in proto.input if name in constants}
    complete = len(found) == len({name for name in proto.input if name})
    return found if complete and (found or proto.op_type == "Constant") else None


def with_nodes(source: Any, nodes: Iterable[Any], constants: Iterable[Any] = ()) -> Any:
    """A copy of a model or graph with other nodes and more constants."""
    copies = [_copied(node) for node in nodes]
    made = _copied(source)
    graph = made.graph if isinstance(made, onnx.ModelProto) else made
    del graph.node[:]
    graph.node.extend(copies)
    graph.initializer.extend(constants)
    return made


def _copied(proto: Any) -> Any:
    made = type(proto)()
    made.CopyFrom(proto)
    return made


def constant_of(name: str, values: Any) -> Any:
    """An initializer."""
    return numpy_helper.from_array(np.asarray(values, order="C"), name)


def static_shape(info: Any) -> tuple[int, ...] | None:
    """Shape of a declared value; None where a dimension is open."""
    kind = info.type.tensor_type
    known = kind.HasField("shape") and all(d.HasField("dim_value") for d in kind.shape.dim)
    return tuple(d.dim_value for d in kind.shape.dim) if known else None
