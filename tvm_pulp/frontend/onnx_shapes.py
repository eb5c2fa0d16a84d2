"""Shapes of all values of an ONNX graph, as far as they are known before anything is computed."""

from collections.abc import Mapping, Sequence
from typing import Any

import onnx

from tvm_pulp.errors import UserError
from tvm_pulp.frontend.limits import check_shape
from tvm_pulp.frontend.onnx_file import Graph
from tvm_pulp.frontend.onnx_protos import SHAPE_OPERAND, label, static_shape
from tvm_pulp.frontend.onnx_tensors import item_bytes


def input_shapes(graph: Graph, stated: Mapping[str, Sequence[int]]) -> dict[str, list[int]]:
    """Static shape of every graph input: the user's, else the file's."""
    for name in stated:
        if name not in graph.inputs:
            known = ", ".join(graph.inputs)
            raise UserError(f"--input-shapes: the graph has no input '{name}'; its inputs are {known}")
    shapes = {}
    for name, (dims, element) in graph.inputs.items():
        shape = list(stated.get(name, dims))
        if any(not isinstance(d, int) for d in shape):
            raise UserError(f"input '{name}' has a dynamic shape {list(dims)}: fix it with --input-shapes")
        unknown_rank = dims == ("?",)
        agrees = len(shape) == len(dims) and all(isinstance(d, str) or d == s for d, s in zip(dims, shape, strict=True))
        if name in stated and not unknown_rank and not agrees:
            raise UserError(f"--input-shapes: input '{name}' is {list(dims)} in the file, which {shape} does not match")
        static = [int(d) for d in shape]
        check_shape(f"input '{name}'", static, item_bytes(element) or 1)
        shapes[name] = static
    return shapes


def value_shapes(graph: Any, opsets: Sequence[Any], shapes: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, ...]]:
    """Static shapes of the graph's values; a size no machine of this class holds is a user error."""
    try:
        found = onnx.shape_inference.infer_shapes(_skeleton(graph, opsets, shapes), data_prop=True).graph
    except Exception:  # malformed nodes; the importer that follows names the node
        return {}
    known = {i.name: tuple(i.dims) for i in graph.initializer}
    makers = {name: f"{label(node)}: " for node in graph.node for name in node.output}
    for info in (*found.input, *found.value_info, *found.output):
        shape, each = static_shape(info), item_bytes(info.type.tensor_type.elem_type) or 1
        if shape is not None:
            check_shape(f"{makers.get(info.name, '')}value '{info.name}'", shape, each)
            known[info.name] = shape
    return known


def _inferable(node: Any) -> Any:
    """A node that onnx knows the shapes of: onnxruntime's quantized LSTM has those of the standard one."""
    if node.op_type != "DynamicQuantizeLSTM":
        return node
    plain = onnx.helper.make_node("LSTM", list(node.input[:3]), list(node.output), name=node.name)
    plain.attribute.extend(node.attribute)
    return plain


def _skeleton(graph: Any, opsets: Sequence[Any], shapes: Mapping[str, Sequence[int]]) -> Any:
    """The graph without its weights and without the shapes that its file claims."""
    model = onnx.ModelProto()
    model.ir_version = onnx.IR_VERSION
    model.opset_import.extend(opsets)
    model.graph.name = "g"
    model.graph.node.extend(map(_inferable, graph.node))
    for info in graph.input:
        element = info.type.tensor_type.elem_type
        model.graph.input.append(onnx.helper.make_tensor_value_info(info.name, element, shapes.get(info.name)))
    declared = {info.name for info in graph.input}
    for tensor in graph.initializer:
        if sum(tensor.dims) <= SHAPE_OPERAND:
            model.graph.initializer.append(tensor)
        elif tensor.name not in declared:
            made = onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
            model.graph.input.append(made)
    model.graph.output.extend(onnx.helper.make_empty_tensor_value_info(o.name) for o in graph.output)
    return model
