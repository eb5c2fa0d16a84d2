"""Shape arithmetic of an ONNX graph, computed while importing.

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

from tvm_pulp.frontend.onnx_fold import fold
from tvm_pulp.frontend.onnx_protos import attributes_of, constant_of, known_operands, with_nodes
from tvm_pulp.frontend.onnx_shapes import value_shapes

# Real values that stand for integers keep their node: the integers are what the network computes with.
_KEPT = frozenset({"DequantizeLinear", "DynamicQuantizeLinear"})
# Every round reveals the shapes behind what the one before has folded; exporters need three or four.
_MOST_ROUNDS = 32


def fold_shapes(
    graph: Any, opsets: Sequence[Any], shapes: Mapping[str, Sequence[int]], opset: int
) -> tuple[Any, dict[str, np.ndarray]]:
    """The graph without shape arithmetic, and the values of what was folded; expects nodes in execution order."""
    folded: dict[str, np.ndarray] = {}
    constants = {i.name: numpy_helper.to_array(i) for i in graph.initializer if _foldable(i)}
    for _ in range(_MOST_ROUNDS):
        found = _round(graph, opsets, shapes, {**constants, **folded}, opset)
        if not found:
            break
        folded |= found
        graph = _without(graph, found)
    return graph, folded


def _foldable(tensor: Any) -> bool:
    """Tell if numpy has this type; the others are weights that nothing computes with here."""
    kinds = onnx.TensorProto
    return tensor.data_type not in (kinds.INT4, kinds.UINT4, kinds.STRING, kinds.BFLOAT16)


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
        results = None
        if node.op_type in ("Shape", "Size") and node.input and node.input[0] in known:
            results = [_shape_of(node, known[node.input[0]])]
        elif node.op_type not in _KEPT:
            operands = known_operands(node, ChainMap(found, constants))
            results = fold(node, operands, opset) if operands is not None else None
        if results is not None and len(results) == len(node.output):
            found |= {name: np.asarray(r) for name, r in zip(node.output, results, strict=True) if name}
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
