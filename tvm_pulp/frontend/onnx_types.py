"""Types that an ONNX file states, beside those that ONNX defines for its operators."""

from functools import cache
from typing import Any

import onnx


@cache
def _schema(operator: str, opset: int) -> Any:
    try:
        return onnx.defs.get_schema(operator, opset, "")
    except onnx.defs.SchemaError:
        return None


def _type_text(element: int) -> str:
    """The name of a tensor type as definitions have it: `tensor(int8)`."""
    return f"tensor({onnx.TensorProto.DataType.Name(element).lower()})"


def has_standard_types(model: Any, opset: int) -> bool:
    """Tell if no operand has a type that its operator's definition excludes; types that are not stated do not count.

    ONNX's Conv takes no int8, and none of its operators takes an integer beside a float where both are of one kind: a
    file with such operands means something else by them.
    """
    graph = model.graph
    types = {i.name: _type_text(i.data_type) for i in graph.initializer}
    types |= {
        i.name: _type_text(i.type.tensor_type.elem_type)
        for i in graph.input
        if i.type.tensor_type.elem_type != onnx.TensorProto.UNDEFINED
    }
    for node in graph.node:
        schema = _schema(node.op_type, opset) if node.domain in ("", "ai.onnx") else None
        if schema is None or not schema.inputs:
            continue
        bound: dict[str, str] = {}
        for place, name in enumerate(node.input):
            stated, formal = types.get(name), schema.inputs[min(place, len(schema.inputs) - 1)]
            if stated is None:
                continue
            if stated not in formal.types:
                return False
            if formal.is_homogeneous and bound.setdefault(formal.type_str, stated) != stated:
                return False
        for name, formal in zip(node.output, schema.outputs, strict=False):
            if formal.type_str in bound:
                types[name] = bound[formal.type_str]
    return True
