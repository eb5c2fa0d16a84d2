"""An ONNX graph as TVM's importer wants it: static inputs, known operators, plausible sizes, nothing recurrent."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from tvm_pulp.frontend.imported import ImportOptions, SourceNode, UnsupportedOperators
from tvm_pulp.frontend.onnx_file import Graph
from tvm_pulp.frontend.onnx_integer_recurrent import IntegerUnrolled
from tvm_pulp.frontend.onnx_node_checks import check_attributes, check_form
from tvm_pulp.frontend.onnx_protos import name_of, operand, with_nodes
from tvm_pulp.frontend.onnx_recurrent import DYNAMIC, RECURRENT, DynamicLstm, Unrolled
from tvm_pulp.frontend.onnx_shapes import fold_shapes, input_shapes, value_shapes

# Whose operator names mean what the converters think they mean.
_DOMAINS = frozenset({"", "ai.onnx", "com.microsoft", "PACTOps", "ai.onnx.contrib", "org.pytorch.aten"})
# The values of activations decide how many results these have.
_UNSIZED = ("NonZero", "Unique", "AllClassNMS")
# These have as many as an operand says, which must be constant.
_SIZED_BY = {"TopK": 1, "NonMaxSuppression": 2, "Compress": 1, "OneHot": 1}
# TVM converts these to forms that have no C: control flow, sequences, results of unknown size.
NO_C = frozenset(
    (
        *("If", "Loop", "Scan", *_UNSIZED),
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


def unrolled(
    graph: Any, constants: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]], writer: Callable[..., Any]
) -> Any:
    """A graph without the recurrent nodes that `writer` has a form for; the same graph where it has none."""
    if not any(node.op_type in RECURRENT for node in graph.node):
        return graph
    result = with_nodes(graph, ())
    for node in graph.node:
        written = writer(node, constants, shapes, result) if node.op_type in RECURRENT else None
        if written is not None:
            written.write()
        else:
            result.node.append(node)
    return result


def _has_no_size(node: Any, constants: Mapping[str, Any]) -> bool:
    """Tell if the values of activations decide how large a node's result is."""
    size = operand(node, _SIZED_BY[node.op_type]) if node.op_type in _SIZED_BY else ""
    return node.op_type in _UNSIZED or bool(size and size not in constants)


def _message(bad: Sequence[Any], unsized: Sequence[Any], converted: Mapping[str, str]) -> str:
    """All operators that are unknown, or the first whose size is. `converted`: what conversions were made of."""
    if unsized:
        node, size = unsized[0], _SIZED_BY.get(unsized[0].op_type)
        reason = "has no fixed size"
        way_out = f"cut the graph before it, at '{operand(node, 0)}', and compute the rest on the host"
        if size is not None:
            name = operand(node, size)
            reason += f", '{converted.get(name, name)}' decides it at run time"
            way_out = f"make it a constant, or {way_out}"
        return f"node '{name_of(node)}': {node.op_type} {reason}: {way_out}"
    listed = ", ".join(sorted({f"{n.op_type} (node '{name_of(n)}')" for n in bad}))
    return f"unsupported ONNX operators: {listed}: replace them by standard ones"


def standard_graph(graph: Graph, options: ImportOptions, known: Collection[str]) -> tuple[Any, dict[str, list[Any]]]:
    """The graph to import and the shapes of its inputs; `known` are the operators the importer converts."""
    shapes = input_shapes(graph, options.input_shapes)
    opsets = graph.model.opset_import
    check_attributes(graph.model.graph.node, graph.constants)
    proto, folded = fold_shapes(graph.model.graph, opsets, shapes, graph.opset)
    graph.constants.update(folded)
    unsized = [n for n in proto.node if _has_no_size(n, graph.constants)]
    bad = [
        n
        for n in proto.node
        if (n.op_type not in known and n.op_type not in RECURRENT and n.op_type != "Constant")
        or n.op_type in NO_C
        or n.domain not in _DOMAINS
    ]
    if bad or unsized:
        converted = {n.output[0]: n.input[0] for n in graph.model.graph.node if n.op_type == "Cast"}
        raise UnsupportedOperators(
            _message(bad, unsized, converted), source_nodes(graph, [n.output[0] for n in (*bad, *unsized) if n.output])
        )
    values = value_shapes(proto, opsets, shapes)
    for node in proto.node:
        check_form(node, graph.opset)
    plain = IntegerUnrolled if options.recurrent == "int8" else Unrolled

    def writer(node: Any, *where: Any) -> Unrolled:
        return (DynamicLstm if node.op_type == DYNAMIC else plain)(node, *where)

    written = unrolled(_named(proto), graph.constants, values, writer)
    return written, {name: list(shape) for name, shape in shapes.items()}
