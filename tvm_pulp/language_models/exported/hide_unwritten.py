"""Rows of a cache that hold nothing yet get no weight: a large negative number before softmax.

    Softmax(x[..., past + rows])      becomes      Softmax(x + Concat(hidden[past], 0))

This is for attention that is not one operator with a length of its own.
"""

from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from tvm_pulp.errors import UserError

HIDDEN = "hidden_rows"
# Far below every score, and far from the end of the range.
LEAST = -1e9


def hide_unwritten(graph: Any, pasts: set[str], past: int, rows: int) -> None:
    """Changes the graph: a new input says which rows of the past hold nothing."""
    reached = set(pasts)
    for node in graph.node:
        if any(n in reached for n in node.input):
            reached |= set(node.output)
    places = [n for n in graph.node if n.op_type == "Softmax" and n.input[0] in reached and not _is_inner(n)]
    if not places:
        raise UserError("no Softmax reads a cache: such attention is not understood")
    graph.input.append(helper.make_tensor_value_info(HIDDEN, onnx.TensorProto.FLOAT, [past]))
    graph.initializer.append(numpy_helper.from_array(np.zeros(rows, np.float32), f"{HIDDEN}_new"))
    made = [helper.make_node("Concat", [HIDDEN, f"{HIDDEN}_new"], [f"{HIDDEN}_all"], name=f"{HIDDEN}_all", axis=0)]
    for node in places:
        name = f"{node.output[0]}_hidden"
        made.append(helper.make_node("Add", [node.input[0], f"{HIDDEN}_all"], [name], name=name))
        node.input[0] = name
    graph.node.extend(made)


def _is_inner(node: Any) -> bool:
    """Tell if a softmax runs along another axis than the last."""
    return any(a.name == "axis" and a.i not in (-1, 2, 3) for a in node.attribute)
