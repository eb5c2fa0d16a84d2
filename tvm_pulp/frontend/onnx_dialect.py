"""Imports the PULP integer ONNX dialect: float-declared graphs that hold integers, with private integer operators.

Each operator has one converter; the tables are in `onnx_dialect_layers`, `onnx_dialect_activations` and
`onnx_dialect_movement`. Layout stays NCHW here; canonicalization makes it NHWC.
"""

import numpy as np
import onnx
from tvm import relax

from tvm_pulp.frontend import onnx_dialect_activations, onnx_dialect_layers, onnx_dialect_movement
from tvm_pulp.frontend.imported import (
    Imported,
    ImportOptions,
    SourceNode,
    UnsupportedOperators,
    output_names,
    refuse_unknown_inputs,
)
from tvm_pulp.frontend.library_errors import last_words, refuse_library_errors
from tvm_pulp.frontend.match_arrays import match_arrays
from tvm_pulp.frontend.onnx_conversion import Conversion
from tvm_pulp.frontend.onnx_dialect_values import INPUT_TYPES, Values, input_type, is_integral, variable_name
from tvm_pulp.frontend.onnx_file import Graph, OnnxNode
from tvm_pulp.frontend.onnx_node_checks import WINDOWS, check_attributes, check_node
from tvm_pulp.frontend.onnx_shapes import input_shapes
from tvm_pulp.frontend.onnx_tensors import type_name
from tvm_pulp.frontend.onnx_types import has_standard_types
from tvm_pulp.frontend.relax_checks import check_module
from tvm_pulp.qnn import lineage
from tvm_pulp.qnn.abandoned_builder import closed_on_error

CONVERTERS = {
    **onnx_dialect_layers.CONVERTERS,
    **onnx_dialect_activations.CONVERTERS,
    **onnx_dialect_movement.CONVERTERS,
}

# Operators that exist nowhere else: one of them makes a graph a member of the dialect.
PRIVATE = frozenset(op for op in CONVERTERS if not onnx.defs.has(op))


def is_dialect(graph: Graph, options: ImportOptions) -> bool:
    """Tell if a graph is integer although its file declares floats, or operators that ONNX defines for floats alone.

    A file that declares integers where ONNX takes them says what it means: its operators are those of standard ONNX,
    which wrap in the type of their operands, where the dialect's make 32-bit accumulators.
    """
    if any(n.op_type in PRIVATE for n in graph.nodes):
        return True
    declared = declared_types(graph)
    undeclared = [name for name in graph.inputs if name not in declared]
    samples = match_arrays(list(graph.inputs), options.sample_inputs, "--sample-inputs")
    stated = {**declared, **options.input_types}
    if not all(n in samples or n in stated for n in graph.inputs):
        return False
    if not undeclared and has_standard_types(graph.model, graph.opset):
        return False
    integral = all(
        stated[n].lstrip("u").startswith("int") if n in stated else is_integral(samples[n]) for n in undeclared
    )
    known = all(n.op_type in CONVERTERS for n in graph.nodes)
    return integral and known and all(is_integral(c) for c in _used_constants(graph))


def declared_types(graph: Graph) -> dict[str, str]:
    """Inputs whose integer type the file does state."""
    types = {name: type_name(element) for name, (_, element) in graph.inputs.items()}
    return {name: stated for name, stated in types.items() if stated in INPUT_TYPES}


def _used_constants(graph: Graph) -> list[np.ndarray]:
    used = {i for n in graph.nodes for i in n.inputs}
    return [c for name, c in graph.constants.items() if name in used and np.issubdtype(c.dtype, np.number)]


def _source_nodes(graph: Graph) -> tuple[SourceNode, ...]:
    """Layers of this dialect are called after the values they make."""
    return tuple(
        SourceNode(n.outputs[0], n.op_type, n.inputs, n.outputs, unsupported=n.op_type not in CONVERTERS)
        for n in graph.nodes
    )


def _convert(values: Values, node: OnnxNode) -> None:
    """Convert one node; whatever a malformed one makes a converter stumble over is the file's fault."""
    with refuse_library_errors(f"{node.label} is malformed", ": export it again", last_words):
        if node.op_type in WINDOWS:
            operands = [values.expression(name) for name in node.inputs if name]
            check_node(
                Conversion(values, node.op_type, operands, node.attributes, values.graph.opset), f"{node.label}: "
            )
        CONVERTERS[node.op_type](values, node)


def import_dialect(graph: Graph, options: ImportOptions) -> Imported:
    """The graph as a Relax module of dialect operators."""
    unknown = sorted({f"{n.op_type} (node '{n.name}')" for n in graph.nodes if n.op_type not in CONVERTERS})
    if unknown:
        message = f"unsupported operators in this integer network: {', '.join(unknown)}: replace them"
        raise UnsupportedOperators(message, _source_nodes(graph))
    refuse_unknown_inputs("--input-types", options.input_types, graph.inputs, "graph")
    check_attributes(graph.model.graph.node, graph.constants)
    shapes = input_shapes(graph, options.input_shapes)
    samples = match_arrays(list(graph.inputs), options.sample_inputs, "--sample-inputs")
    stated = {**declared_types(graph), **options.input_types}
    builder = relax.BlockBuilder()
    values = Values(builder, graph)
    parameters = []
    for name, shape in shapes.items():
        dtype = input_type(name, stated, samples.get(name))
        variable = relax.Var(variable_name(name), relax.TensorType(tuple(shape), dtype))
        parameters.append(variable)
        values.define(name, variable)
    with closed_on_error(builder), builder.function("main", parameters):
        with builder.dataflow():
            for node in graph.nodes:
                values.node = node
                _convert(values, node)
            results = [builder.emit_output(values.expression(o)) for o in graph.outputs]
        builder.emit_func_output(relax.Tuple(results))
    module = lineage.of_imported(builder.get(), values.named)
    check_module(module, empty_inputs=True)
    inferred = tuple(n for n in graph.inputs if n not in stated)
    return Imported(module, tuple(graph.inputs), output_names(graph.outputs), "pulp", inferred, _source_nodes(graph))
