"""Shapes of all values of an ONNX graph, as far as they are known before it runs, and arithmetic with shapes.

Exporters ask for shapes at run time: Shape, Gather, Concat, then Reshape, Expand or Pad by the result. All input shapes
are known here, so such chains are constants; so is whatever else depends on constants alone.

    Shape(x) -> Slice -> Concat(-1) -> Reshape(y, .)    becomes    Reshape(y, [1, 64, -1])
"""

from collections import ChainMap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from tvm_pulp.errors import UserError
from tvm_pulp.frontend.imported import refuse_unknown_inputs
from tvm_pulp.frontend.limits import check_shape
from tvm_pulp.frontend.onnx_file import Graph
from tvm_pulp.frontend.onnx_fold import known_results
from tvm_pulp.frontend.onnx_protos import SHAPE_OPERAND, attributes_of, constant_of, label, static_shape, with_nodes
from tvm_pulp.frontend.onnx_tensors import item_bytes


def input_shapes(graph: Graph, stated: Mapping[str, Sequence[int]]) -> dict[str, list[int]]:
    """Static shape of every graph input: the user's, else the file's."""
    refuse_unknown_inputs("--input-shapes", stated, graph.inputs, "graph")
    shapes = {}
    for name, (dims, element) in graph.inputs.items():
        shape = list(stated.get(name, dims))
        if any(not isinstance(d, int) for d in shape):
            raise UserError(f"input '{name}' has a dynamic shape {list(dims)}: fix it with --input-shapes")
        agrees = len(shape) == len(dims) and all(isinstance(d, str) or d == s for d, s in zip(dims, shape, strict=True))
        if not agrees and dims != ("?",):
            raise UserError(f"--input-shapes: input '{name}' is {list(dims)} in the file, which {shape} does not match")
        shapes[name] = [int(d) for d in shape]
        check_shape(f"input '{name}'", shapes[name], item_bytes(element) or 1)
    return shapes


def value_infos(graph: Any, opsets: Sequence[Any], shapes: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """Types and shapes of the graph's values as ONNX infers them; nothing where a node is malformed."""
    try:
        found = onnx.shape_inference.infer_shapes(_skeleton(graph, opsets, shapes), data_prop=True).graph
    except Exception:  # malformed nodes; the importer that follows names the node
        return {}
    return {info.name: info for info in (*found.input, *found.value_info, *found.output)}


def value_shapes(graph: Any, opsets: Sequence[Any], shapes: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, ...]]:
    """Static shapes of the graph's values; a size no machine of this class holds is a user error."""
    infos = value_infos(graph, opsets, shapes)
    if not infos:
        return {}
    known = {i.name: tuple(i.dims) for i in graph.initializer}
    makers = {name: f"{label(node)}: " for node in graph.node for name in node.output}
    for info in infos.values():
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


# Real values that stand for integers keep their node: the integers are what the network computes with.
_KEPT = frozenset({"DequantizeLinear", "DynamicQuantizeLinear"})
# Types that numpy does not have: weights that nothing computes with here.
_NOT_FOLDED = (onnx.TensorProto.INT4, onnx.TensorProto.UINT4, onnx.TensorProto.STRING, onnx.TensorProto.BFLOAT16)
# Every round reveals the shapes behind what the one before has folded; exporters need three or four.
_MOST_ROUNDS = 32


def fold_shapes(
    graph: Any, opsets: Sequence[Any], shapes: Mapping[str, Sequence[int]], opset: int
) -> tuple[Any, dict[str, np.ndarray]]:
    """The graph without shape arithmetic, and the values of what was folded; expects nodes in execution order."""
    folded: dict[str, np.ndarray] = {}
    constants = {i.name: numpy_helper.to_array(i) for i in graph.initializer if i.data_type not in _NOT_FOLDED}
    for _ in range(_MOST_ROUNDS):
        found = _round(graph, opsets, shapes, {**constants, **folded}, opset)
        if not found:
            break
        folded |= found
        graph = _without(graph, found)
    return graph, folded


def _round(
    graph: Any,
    opsets: Sequence[Any],
    shapes: Mapping[str, Sequence[int]],
    constants: dict[str, np.ndarray],
    opset: int,
) -> dict[str, np.ndarray]:
    """Values that can be computed with the shapes that are known now."""
    asks = any(node.op_type in ("Shape", "Size") for node in graph.node)
    known = value_shapes(graph, opsets, shapes) if asks else {}
    found: dict[str, np.ndarray] = {}
    for node in graph.node:
        if node.op_type in ("Shape", "Size") and node.input and node.input[0] in known:
            found |= {name: _shape_of(node, known[node.input[0]]) for name in node.output if name}
        elif node.op_type not in _KEPT:
            found |= known_results(node, ChainMap(found, constants), opset) or {}
    return found


def _shape_of(node: Any, shape: tuple[int, ...]) -> np.ndarray:
    if node.op_type == "Size":
        return np.array(int(np.prod(shape, dtype=np.int64)), np.int64)
    attributes = attributes_of(node)
    return np.array(shape[attributes.get("start", 0) : attributes.get("end", len(shape))], np.int64)


def _without(graph: Any, found: Mapping[str, np.ndarray]) -> Any:
    """The graph with values instead of the nodes that made them."""
    nodes = [n for n in graph.node if not any(o in found for o in n.output)]
    read = {name for node in nodes for name in node.input} | {o.name for o in graph.output}
    return with_nodes(graph, nodes, [constant_of(name, values) for name, values in found.items() if name in read])
