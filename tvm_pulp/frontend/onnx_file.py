"""Reads an ONNX file into a graph that is sorted, folded and safe to walk."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from tvm_pulp.errors import UserError

# Ops that only compute shapes or constants; everything with constant operands is folded away.
_FOLD_LIMIT = 1 << 26


@dataclass(frozen=True)
class Node:
    """One operator of the graph, constants resolved by name."""

    op_type: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any]

    def scalar(self, *names: str, default: float | None = None) -> float:
        """A scalar attribute that may be stored as a number or as a one-element tensor."""
        for name in names:
            if name in self.attributes:
                return float(np.asarray(self.attributes[name]).reshape(-1)[0])
        if default is None:
            raise UserError(
                f"node '{self.name}' ({self.op_type}) lacks the attribute '{names[0]}': re-export the model"
            )
        return default

    def integer(self, *names: str, default: int | None = None) -> int:
        value = self.scalar(*names, default=default)
        if value != round(value):
            raise UserError(f"node '{self.name}' ({self.op_type}): attribute '{names[0]}' is {value}, not an integer")
        return int(value)


@dataclass(frozen=True)
class Graph:
    """Nodes in execution order, constants by name."""

    nodes: tuple[Node, ...]
    constants: dict[str, np.ndarray]
    inputs: dict[str, tuple[tuple[int | str, ...], int]]  # name -> (dimensions, ONNX element type)
    outputs: tuple[str, ...]
    opset: int
    model: Any


def read(path: Path) -> Graph:
    """Parse a file; anything that is not a readable model is a user error."""
    try:
        model = onnx.load(str(path))
    except FileNotFoundError as error:
        raise UserError(f"model file '{path}' cannot be read: {error.strerror or error}") from None
    except Exception as error:  # protobuf, external data and path problems come in many classes
        reason = str(error).split("\n")[0][:200]
        raise UserError(f"'{path}' is not a readable ONNX model ({reason}): check the file or --model-format") from None
    if not model.graph.node and not model.graph.output:
        raise UserError(f"'{path}' holds no ONNX graph: check the file or --model-format")
    return from_model(model)


def from_model(model: Any) -> Graph:
    """Graph of a loaded model: sorted, constants folded."""
    graph = model.graph
    constants = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    opset = max((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), default=1)
    nodes = [_node(index, n) for index, n in enumerate(graph.node)]
    inputs = {i.name: (_dimensions(i), i.type.tensor_type.elem_type) for i in graph.input if i.name not in constants}
    ordered = _sort(nodes, set(inputs) | set(constants))
    kept = _fold(ordered, constants, {_key(n): proto for n, proto in zip(nodes, graph.node, strict=True)}, opset)
    return Graph(tuple(kept), constants, inputs, tuple(o.name for o in graph.output), opset, model)


def _key(node: Node) -> tuple[str, ...]:
    return node.outputs


def _node(index: int, proto: Any) -> Node:
    attributes = {}
    for a in proto.attribute:
        value = onnx.helper.get_attribute_value(a)
        if isinstance(value, onnx.TensorProto):
            value = numpy_helper.to_array(value)
        elif isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        attributes[a.name] = value
    name = proto.name or f"{proto.op_type}_{index}"
    return Node(proto.op_type, name, tuple(proto.input), tuple(proto.output), attributes)


def _dimensions(value: Any) -> tuple[int | str, ...]:
    dims = value.type.tensor_type.shape.dim
    return tuple(d.dim_value if d.HasField("dim_value") else (d.dim_param or "?") for d in dims)


def _sort(nodes: list[Node], known: set[str]) -> list[Node]:
    """Topological order; files do not promise one."""
    produced = {o for n in nodes for o in n.outputs}
    known = known | {""}
    for node in nodes:
        for name in node.inputs:
            if name not in known and name not in produced:
                raise UserError(
                    f"node '{node.name}' ({node.op_type}) reads '{name}', which nothing produces: "
                    "the file lacks an initializer or an input"
                )
    ordered: list[Node] = []
    waiting = list(nodes)
    while waiting:
        ready = [n for n in waiting if all(i in known for i in n.inputs)]
        if not ready:
            raise UserError(f"the graph has a cycle through node '{waiting[0].name}': a network must be acyclic")
        ordered += ready
        known |= {o for n in ready for o in n.outputs}
        done = {id(n) for n in ready}
        waiting = [n for n in waiting if id(n) not in done]
    return _depth_first(ordered, nodes)


def _depth_first(ordered: list[Node], original: list[Node]) -> list[Node]:
    """Keep the file's order when it is already valid: it reads like the author's network."""
    position = {id(n): i for i, n in enumerate(original)}
    made: dict[str, int] = {o: position[id(n)] for n in original for o in n.outputs}
    valid = all(made.get(i, -1) < position[id(n)] for n in original for i in n.inputs)
    return original if valid else ordered


def _fold(nodes: list[Node], constants: dict[str, np.ndarray], protos: dict[Any, Any], opset: int) -> list[Node]:
    """Evaluate nodes whose operands are all constant."""
    from onnx.reference import ReferenceEvaluator

    kept = []
    for node in nodes:
        if node.op_type == "Constant" and "value" in node.attributes:
            constants[node.outputs[0]] = np.asarray(node.attributes["value"])
            continue
        operands = [i for i in node.inputs if i]
        if node.op_type != "Constant" and (not operands or any(i not in constants for i in operands)):
            kept.append(node)
            continue
        try:
            proto = onnx.NodeProto()
            proto.CopyFrom(protos[_key(node)])
            proto.domain = ""
            results = ReferenceEvaluator(proto, opsets={"": opset}).run(None, {i: constants[i] for i in operands})
        except Exception:  # not a standard op, or one the evaluator does not know: an ordinary layer then
            kept.append(node)
            continue
        if sum(np.asarray(r).nbytes for r in results) > _FOLD_LIMIT:
            raise UserError(f"node '{node.name}' ({node.op_type}) folds to more than 64 MiB: the file is not plausible")
        constants.update({name: np.asarray(r) for name, r in zip(node.outputs, results, strict=True) if name})
    return kept
