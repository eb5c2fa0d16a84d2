"""An ONNX graph as TVM's importer wants it: static inputs, known operators, plausible sizes, nothing recurrent."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tvm_pulp.errors import UserError
from tvm_pulp.frontend.imported import ImportOptions
from tvm_pulp.frontend.onnx_attributes import check_attributes
from tvm_pulp.frontend.onnx_file import Graph
from tvm_pulp.frontend.onnx_order import name_of
from tvm_pulp.frontend.onnx_recurrent import RECURRENT, decompose
from tvm_pulp.frontend.onnx_shapes import input_shapes, value_shapes

# Whose operator names mean what the converters think they mean.
_DOMAINS = frozenset({"", "ai.onnx", "com.microsoft", "PACTOps", "ai.onnx.contrib", "org.pytorch.aten"})
# TVM converts these to forms that have no C: control flow, sorting, sequences, results of unknown size.
_NO_C = frozenset(
    (
        *("If", "Loop", "Scan", "NonZero", "Unique", "NonMaxSuppression", "AllClassNMS", "TopK", "Compress"),
        *("Optional", "OptionalHasElement", "OptionalGetElement", "SequenceConstruct", "SequenceEmpty"),
        *("SequenceErase", "SequenceInsert", "SequenceLength", "ConcatFromSequence", "SplitToSequence", "SequenceAt"),
    )
)


def standard_graph(graph: Graph, options: ImportOptions, known: Collection[str]) -> tuple[Any, dict[str, list[Any]]]:
    """The graph to import and the shapes of its inputs; `known` are the operators the importer converts."""
    proto = graph.model.graph
    bad = [
        n
        for n in proto.node
        if (n.op_type not in known and n.op_type not in RECURRENT and n.op_type != "Constant")
        or n.op_type in _NO_C
        or n.domain not in _DOMAINS
    ]
    if bad:
        listed = ", ".join(sorted({f"{n.op_type} (node '{name_of(n)}')" for n in bad}))
        raise UserError(f"unsupported ONNX operators: {listed}: replace them by standard ones")
    check_attributes(proto.node, graph.constants)
    shapes = input_shapes(graph, options.input_shapes)
    opsets = graph.model.opset_import
    values = value_shapes(proto, opsets, shapes)
    unrolled = decompose(proto, graph.constants, values)
    return unrolled, {name: list(shape) for name, shape in shapes.items()}
