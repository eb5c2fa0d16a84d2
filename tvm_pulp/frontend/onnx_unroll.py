"""A graph without recurrent nodes: each is written out, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tvm_pulp.frontend.onnx_dynamic_lstm import DynamicLstm
from tvm_pulp.frontend.onnx_protos import with_nodes
from tvm_pulp.frontend.onnx_recurrent import DYNAMIC, RECURRENT, Unrolled


def decompose(graph: Any, constants: Mapping[str, np.ndarray], shapes: Mapping[str, tuple[int, ...]]) -> Any:
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
