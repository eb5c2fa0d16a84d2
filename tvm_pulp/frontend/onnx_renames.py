"""Nodes that only give a value another name, as exporters leave them, become Identity.

A join of one value, or of a value and constants without elements:

    Concat(x), Concat(empty, x)     becomes     Identity(x)
"""

from typing import Any

import numpy as np
from onnx import helper

from tvm_pulp.frontend.onnx_protos import name_of, with_nodes
from tvm_pulp.frontend.onnx_tensors import stored_tensors


def plain_renames(model: Any) -> Any:
    """The model without such nodes; the same model where it has none."""
    if not any(node.op_type == "Concat" for node in model.graph.node):
        return model
    empty = {name for name, tensor in stored_tensors(model.graph).items() if not np.prod(tensor.dims)}
    nodes = [_renamed(node, empty) for node in model.graph.node]
    changed = any(a is not b for a, b in zip(nodes, model.graph.node, strict=True))
    return with_nodes(model, nodes) if changed else model


def _renamed(node: Any, empty: set[str]) -> Any:
    joined = [name for name in node.input if name not in empty]
    if node.op_type != "Concat" or node.domain not in ("", "ai.onnx") or len(joined) != 1 or len(node.output) != 1:
        return node
    return helper.make_node("Identity", joined, list(node.output), name=name_of(node))
