"""Products of bytes that were made wider first, as Keras' int8 layers on PyTorch are written.

    Cast to int32 -> Reshape, Transpose -> MatMul with constants  ->  Reshape, Transpose -> MatMulInteger

The sums are the same numbers of 32 bits.
"""

from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from tvm_pulp.frontend.onnx_protos import alive, constant_of, with_nodes

_MOVEMENT = ("Reshape", "Transpose")


def with_integer_products(model: Any) -> Any:
    """The model with such products; the given one stays as it is."""
    makers = {name: node for node in model.graph.node for name in node.output}
    constants = {i.name: i for i in model.graph.initializer}
    made: dict[str, list[Any]] = {}
    weights: dict[str, Any] = {}
    for node in model.graph.node:
        if node.op_type != "MatMul" or node.input[1] not in constants:
            continue
        moves = _moves(node.input[0], makers)
        weight = numpy_helper.to_array(constants[node.input[1]])
        if moves is None or weight.dtype != np.int32 or np.abs(weight.astype(np.int64) + 0.5).max(initial=0) > 128:
            continue
        wanted = f"{node.input[1]}.bytes"
        weights[wanted] = constant_of(wanted, weight.astype(np.int8))
        nodes, current = [], moves[-1].input[0]
        for move in reversed(moves[:-1]):
            moved = f"{node.output[0]}.{move.output[0]}"
            nodes.append(helper.make_node(move.op_type, [current, *move.input[1:]], [moved], name=moved))
            nodes[-1].attribute.extend(move.attribute)
            current = moved
        nodes.append(helper.make_node("MatMulInteger", [current, wanted], list(node.output), name=node.name))
        made[node.output[0]] = nodes
    if not made:
        return model
    nodes = [new for node in model.graph.node for new in made.get(node.output[0], [node])]
    changed = with_nodes(model, nodes, weights.values())
    changed.graph.CopyFrom(alive(changed.graph))
    return changed


def _moves(name: str, makers: dict[str, Any]) -> list[Any] | None:
    """Nodes from a value back to the cast of signed bytes that it comes from; None where it does not."""
    found = []
    while name in makers and makers[name].op_type in (*_MOVEMENT, "Cast"):
        found.append(makers[name])
        name = found[-1].input[0]
        if found[-1].op_type == "Cast":
            before = makers.get(name)
            is_byte = before is not None and before.op_type == "Cast" and before.attribute[0].i == TensorProto.INT8
            return found if is_byte and found[-1].attribute[0].i == TensorProto.INT32 else None
    return None
