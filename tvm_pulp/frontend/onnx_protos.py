"""Nodes and graphs of ONNX as protocol buffers: names, operands, attributes, copies."""

import heapq
from collections.abc import Collection, Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.grouped import grouped

# Shapes and the like; longer constants are weights.
SHAPE_OPERAND = 1024


def label(proto: Any) -> str:
    """The node as messages name it."""
    return f"node '{name_of(proto)}' ({proto.op_type})"


def name_of(proto: Any) -> str:
    """A node's name; nodes without one are known by their first result."""
    return str(proto.name or next((name for name in proto.output if name), "?"))


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
    copies = [copied(node) for node in nodes]
    made = copied(source)
    graph = made.graph if isinstance(made, onnx.ModelProto) else made
    replace_all(graph.node, copies)
    graph.initializer.extend(constants)
    return made


def replace_all(field: Any, values: Sequence[Any]) -> None:
    """Other values in a field that repeats, in place of those that it has."""
    del field[:]
    field.extend(values)


def copied(proto: Any) -> Any:
    """A copy that may be changed."""
    made = type(proto)()
    made.CopyFrom(proto)
    return made


def node_of(operator: str, inputs: Sequence[str], output: str, **attributes: Any) -> Any:
    """A node of one result, which also gives it its name."""
    return helper.make_node(operator, inputs, [output], name=output, **attributes)


def reached(names: Collection[str], nodes: Iterable[Any]) -> set[str]:
    """Those values, and what depends on them; the nodes stand in execution order."""
    found = set(names)
    for node in nodes:
        if any(name in found for name in node.input):
            found |= set(node.output)
    return found


def with_names(graph: Any, names: Mapping[str, str]) -> Any:
    """A copy of a graph whose values have other names."""
    made = copied(graph)
    for node in made.node:
        for values in (node.input, node.output):
            values[:] = [names.get(name, name) for name in values]
    for value in (*made.initializer, *made.input, *made.output):
        value.name = names.get(value.name, value.name)
    return made


def constant_of(name: str, values: Any) -> Any:
    """An initializer."""
    return numpy_helper.from_array(np.asarray(values, order="C"), name)


def constants_of(graph: Any) -> dict[str, np.ndarray]:
    """The values of a graph's initializers."""
    return {i.name: numpy_helper.to_array(i) for i in graph.initializer}


def readers_of(nodes: Iterable[Any]) -> dict[str, list[Any]]:
    """By value, the nodes that read it, as often as they do."""
    return grouped((name, node) for node in nodes for name in node.input)


def static_shape(info: Any) -> tuple[int, ...] | None:
    """Shape of a declared value; None where a dimension is open."""
    kind = info.type.tensor_type
    known = kind.HasField("shape") and all(d.HasField("dim_value") for d in kind.shape.dim)
    return tuple(d.dim_value for d in kind.shape.dim) if known else None


def execution_order(nodes: Collection[Any], known: Collection[str], outputs: Collection[str]) -> list[Any]:
    """The nodes so that each follows its operands; the file's order where that is already valid.

    `known` are inputs and constants. Values that nothing produces, values produced twice, and cycles are user errors.
    """
    protos = list(nodes)
    maker: dict[str, int] = {}
    for index, proto in enumerate(protos):
        for name in proto.output:
            if name and (name in maker or name in known):
                raise UserError(f"{label(proto)} produces '{name}', which exists already: names must be unique")
            maker[name] = index
    maker.pop("", None)
    for proto in protos:
        for name in proto.input:
            refuse_if(
                name and name not in maker and name not in known,
                f"{label(proto)} reads '{name}', which nothing produces: the file lacks an initializer or an input",
            )
    for name in outputs:
        if name not in maker and name not in known:
            raise UserError(f"the graph's output '{name}' is produced by nothing: the file lacks a node")
    sorter = TopologicalSorter(
        {index: {maker[name] for name in proto.input if name in maker} for index, proto in enumerate(protos)}
    )
    try:
        sorter.prepare()
    except CycleError as error:
        stuck = label(protos[min(error.args[1])])
        raise UserError(f"the graph has a cycle through {stuck}: a network must be acyclic") from None
    ready: list[int] = []
    ordered = []
    while sorter.is_active():
        for index in sorter.get_ready():
            heapq.heappush(ready, index)
        first = heapq.heappop(ready)
        ordered.append(protos[first])
        sorter.done(first)
    return ordered


def needed(nodes: Sequence[Any], outputs: Iterable[str]) -> list[Any]:
    """Those of nodes that outputs depend on, as they stand."""
    makers = {name: node for node in nodes for name in node.output}
    names, kept = list(outputs), set()
    while names:
        node = makers.get(names.pop())
        if node is not None and node.output[0] not in kept:
            kept.add(node.output[0])
            names += node.input
    return [node for node in nodes if node.output[0] in kept]


def alive(graph: Any) -> Any:
    """The graph in execution order, without what no output needs; inputs stay."""
    outputs = [o.name for o in graph.output]
    nodes = needed(graph.node, outputs)
    read = {name for node in nodes for name in node.input}
    constants = [i for i in graph.initializer if i.name in read]
    given = {i.name for i in (*graph.input, *constants)}
    return helper.make_graph(execution_order(nodes, given, outputs), graph.name, graph.input, graph.output, constants)


def without_unread_inputs(graph: Any, names: Collection[str]) -> Any:
    """The graph, changed: inputs of these names that nothing reads are gone."""
    read = {name for node in graph.node for name in node.input}
    replace_all(graph.input, [i for i in graph.input if i.name not in names or i.name in read])
    return graph
