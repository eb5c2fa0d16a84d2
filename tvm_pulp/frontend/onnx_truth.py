"""Truth values at the ends of a graph become bytes of 0 and 1: the interface of the emitted C has no others.

bool x -> And -> bool y     becomes     uint8 x -> Cast -> And -> Cast -> uint8 y
"""

from typing import Any

import onnx

from tvm_pulp.frontend.onnx_protos import node_of, replace_all, with_nodes

_BOOL, _BYTE = onnx.TensorProto.BOOL, onnx.TensorProto.UINT8


def truth_values(values: Any) -> list[str]:
    """Names of those declared values that are truth values."""
    return [v.name for v in values if v.type.HasField("tensor_type") and v.type.tensor_type.elem_type == _BOOL]


def with_bytes_at_ends(model: Any) -> Any:
    """The model with bytes instead of truth values at its ends; the same model where it has none."""
    held = {i.name for i in model.graph.initializer}
    given = [name for name in truth_values(model.graph.input) if name not in held]
    computed = {name for node in model.graph.node for name in node.output}
    wanted = [name for name in truth_values(model.graph.output) if name in computed]
    if not given and not wanted:
        return model
    taken = held | computed | {v.name for v in model.graph.input}
    names = {name: _free(f"{name}_truth", taken) for name in (*given, *wanted)}
    result = with_nodes(model, model.graph.node)
    for node in result.graph.node:
        replace_all(node.input, [names.get(name, name) for name in node.input])
        replace_all(node.output, [names.get(name, name) for name in node.output])
    before = [node_of("Cast", [name], names[name], to=_BOOL) for name in given]
    after = [node_of("Cast", [names[name]], name, to=_BYTE) for name in wanted]
    replace_all(result.graph.node, [*before, *result.graph.node, *after])
    for value in (*result.graph.input, *result.graph.output):
        if value.name in names:
            value.type.tensor_type.elem_type = _BYTE
    return result


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name
