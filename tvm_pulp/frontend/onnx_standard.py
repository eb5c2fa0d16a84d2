"""An ONNX graph as TVM's importer wants it: static inputs, known operators, plausible sizes, nothing recurrent."""

from collections.abc import Collection, Mapping
from typing import Any

from tvm_pulp.frontend.imported import ImportOptions, SourceNode, UnsupportedOperators
from tvm_pulp.frontend.onnx_file import Graph
from tvm_pulp.frontend.onnx_node_checks import check_attributes, check_nodes
from tvm_pulp.frontend.onnx_protos import name_of, with_nodes
from tvm_pulp.frontend.onnx_recurrent import DYNAMIC, RECURRENT, DynamicLstm, Unrolled
from tvm_pulp.frontend.onnx_shapes import fold_shapes, input_shapes, value_shapes

# Whose operator names mean what the converters think they mean.
_DOMAINS = frozenset({"", "ai.onnx", "com.microsoft", "PACTOps", "ai.onnx.contrib", "org.pytorch.aten"})
# TVM converts these to forms that have no C: control flow, sorting, sequences, results of unknown size.
NO_C = frozenset(
    (
        *("If", "Loop", "Scan", "NonZero", "Unique", "NonMaxSuppression", "AllClassNMS", "TopK", "Compress"),
        *("Optional", "OptionalHasElement", "OptionalGetElement", "SequenceConstruct", "SequenceEmpty"),
        *("SequenceErase", "SequenceInsert", "SequenceLength", "ConcatFromSequence", "SplitToSequence", "SequenceAt"),
    )
)


def source_nodes(graph: Graph, unsupported: Collection[str] = ()) -> tuple[SourceNode, ...]:
    """The file's nodes, for explanations; `unsupported` are known by their first result."""
    return tuple(
        SourceNode(
            name_of(n),
            n.op_type,
            tuple(n.input),
            tuple(n.output),
            all(o in graph.constants for o in n.output),
            bool(n.output) and n.output[0] in unsupported,
        )
        for n in graph.model.graph.node
    )


def _named(graph: Any) -> Any:
    """The graph with a name for every node: layers are called after them."""
    if all(node.name for node in graph.node):
        return graph
    named = with_nodes(graph, graph.node)
    for node in named.node:
        node.name = name_of(node)
    return named


def _unrolled(graph: Any, constants: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> Any:
    """A graph without recurrent nodes; the same graph where it has none."""
    if not any(node.op_type in RECURRENT for node in graph.node):
        return graph
    result = with_nodes(graph, ())
    for node in graph.node:
        if node.op_type in RECURRENT:
            writer = DynamicLstm if node.op_type == DYNAMIC else Unrolled
            writer(node, constants, shapes, result).write()
        else:
            result.node.append(node)
    return result


def standard_graph(graph: Graph, options: ImportOptions, known: Collection[str]) -> tuple[Any, dict[str, list[Any]]]:
    """The graph to import and the shapes of its inputs; `known` are the operators the importer converts."""
    shapes = input_shapes(graph, options.input_shapes)
    opsets = graph.model.opset_import
    check_attributes(graph.model.graph.node, graph.constants)
    proto, folded = fold_shapes(graph.model.graph, opsets, shapes, graph.opset)
    graph.constants.update(folded)
    bad = [
        n
        for n in proto.node
        if (n.op_type not in known and n.op_type not in RECURRENT and n.op_type != "Constant")
        or n.op_type in NO_C
        or n.domain not in _DOMAINS
    ]
    if bad:
        listed = ", ".join(sorted({f"{n.op_type} (node '{name_of(n)}')" for n in bad}))
        message = f"unsupported ONNX operators: {listed}: replace them by standard ones"
        raise UnsupportedOperators(message, source_nodes(graph, [n.output[0] for n in bad if n.output]))
    values = value_shapes(proto, opsets, shapes)
    check_nodes(proto.node, graph.opset, values, graph.constants)
    return _unrolled(_named(proto), graph.constants, values), {name: list(shape) for name, shape in shapes.items()}
