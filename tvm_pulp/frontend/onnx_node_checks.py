"""Attributes and operands of ONNX nodes that contradict each other, found before anything is converted.

TVM's importer takes some of them in silence and refuses others without saying where; here each is one sentence that
names the node.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto

from tvm_pulp.errors import UserError
from tvm_pulp.frontend.onnx_protos import attributes_of, label, operand

Shapes = Mapping[str, tuple[int, ...]]
_WINDOWS = frozenset({"Conv", "ConvTranspose", "MaxPool", "AveragePool", "LpPool", "QLinearConv", "ConvInteger"})
# Operand that holds the weights.
_WEIGHTS = {"Conv": 1, "ConvTranspose": 1, "ConvInteger": 1, "QLinearConv": 3}
_AUTO_PADS = ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")
_KINDS = {
    AttributeProto.FLOAT: "a number",
    AttributeProto.INT: "an integer",
    AttributeProto.STRING: "a text",
    AttributeProto.TENSOR: "a tensor",
    AttributeProto.GRAPH: "a graph",
    AttributeProto.FLOATS: "numbers",
    AttributeProto.INTS: "integers",
    AttributeProto.STRINGS: "texts",
}


def check_nodes(nodes: Iterable[Any], opset: int, shapes: Shapes, constants: Mapping[str, np.ndarray]) -> None:
    """Raise for attributes of the wrong type, missing operands, windows, groups, reshapes and splits that cannot be."""
    for node in nodes:
        _check_form(node, opset)
        if node.op_type in _WINDOWS:
            _check_window(node, shapes)
        check = _CHECKS.get(node.op_type)
        if check is not None:
            check(node, shapes, constants)


def _fail(node: Any, reason: str) -> UserError:
    return UserError(f"{label(node)}: {reason}: export the model again")


def _refuse_if(condition: object, node: Any, reason: str) -> None:
    if condition:
        raise _fail(node, reason)


def _check_form(node: Any, opset: int) -> None:
    """Types of attributes and number of operands, against the operator's own definition."""
    checked = node.op_type in _WINDOWS or node.op_type in _CHECKS
    if not onnx.defs.has(node.op_type) or not (checked or node.domain in ("", "ai.onnx")):
        return
    try:
        schema = onnx.defs.get_schema(node.op_type, opset, "")
    except onnx.defs.SchemaError:  # newer than the operator set; the importer decides
        return
    if len(node.input) < schema.min_input:
        raise _fail(node, f"it has {len(node.input)} operands and needs at least {schema.min_input}")
    for attribute in node.attribute:
        wanted = schema.attributes.get(attribute.name)
        if wanted is not None and int(wanted.type) != attribute.type:
            found, needed = (_KINDS.get(int(t), "something else") for t in (attribute.type, wanted.type))
            raise _fail(node, f"attribute '{attribute.name}' holds {found}, not {needed}")


def _check_window(node: Any, shapes: Shapes) -> None:
    attributes = attributes_of(node)
    auto = attributes.get("auto_pad", b"NOTSET").decode("utf-8", "replace")
    _refuse_if(auto not in _AUTO_PADS, node, f"auto_pad '{auto}' is unknown, it is one of {', '.join(_AUTO_PADS)}")
    x = shapes.get(operand(node, 0))
    weight = shapes.get(operand(node, _WEIGHTS[node.op_type])) if node.op_type in _WEIGHTS else None
    rank = len(x) - 2 if x is not None else len(weight) - 2 if weight is not None else None
    if rank is not None and rank < 1:
        raise _fail(node, f"an operand of shape {list(x or weight or ())} has no axis to move a window over")
    for name, factor, least in (("kernel_shape", 1, 1), ("strides", 1, 1), ("dilations", 1, 1), ("pads", 2, 0)):
        values = attributes.get(name)
        if values is None:
            continue
        if rank is not None and len(values) != factor * rank:
            raise _fail(node, f"{name} {list(values)} should be {factor * rank} numbers for {rank} axes")
        _refuse_if(any(v < least for v in values), node, f"{name} {list(values)} must be at least {least}")
    if weight is not None:
        _check_weights(node, attributes, x, weight)
    window = attributes.get("kernel_shape") or (weight[2:] if weight is not None else None)
    if x is not None and window is not None and node.op_type != "ConvTranspose" and auto in ("NOTSET", "VALID"):
        _check_reach(node, x[2:], window, attributes)


def _check_reach(node: Any, size: tuple[int, ...], window: Sequence[int], attributes: dict[str, Any]) -> None:
    pads = attributes.get("pads") or [0] * 2 * len(size)
    dilations = attributes.get("dilations") or [1] * len(size)
    for axis, (n, k, d) in enumerate(zip(size, window, dilations, strict=True)):
        if d * (k - 1) + 1 > n + pads[axis] + pads[axis + len(size)]:
            reach = f"window {list(window)}, dilated by {list(dilations)} and padded by {list(pads)},"
            raise _fail(node, f"its {reach} does not fit {list(size)}")


def _check_weights(node: Any, attributes: dict[str, Any], x: tuple[int, ...] | None, weight: tuple[int, ...]) -> None:
    kernel, groups = attributes.get("kernel_shape"), attributes.get("group", 1)
    if kernel is not None and tuple(kernel) != weight[2:]:
        raise _fail(node, f"kernel_shape {list(kernel)} contradicts its weights of shape {list(weight)}")
    _refuse_if(groups < 1, node, f"group {groups} must be at least 1")
    if x is None:
        return
    _refuse_if(len(weight) != len(x), node, f"weights of shape {list(weight)} do not fit an operand of shape {list(x)}")
    transposed = node.op_type == "ConvTranspose"
    if x[1] != (weight[0] if transposed else weight[1] * groups):
        raise _fail(node, f"{x[1]} channels in {groups} groups do not fit its weights of shape {list(weight)}")
    _refuse_if(weight[0] % groups, node, f"its {weight[0]} filters cannot be divided into {groups} groups")


def _check_reshape(node: Any, shapes: Shapes, constants: Mapping[str, np.ndarray]) -> None:
    x, wanted = shapes.get(node.input[0]), constants.get(operand(node, 1))
    if wanted is None or x is None or wanted.ndim != 1:
        return
    zero_stays = not attributes_of(node).get("allowzero")
    sizes = [int(d) for d in wanted]
    if any(d == 0 and zero_stays and i >= len(x) for i, d in enumerate(sizes)):
        raise _fail(node, f"shape {sizes} copies an axis that {list(x)} does not have")
    full = [x[i] if d == 0 and zero_stays else d for i, d in enumerate(sizes)]
    rest = [d for d in full if d != -1]
    if full.count(-1) > 1 or any(d < 0 for d in rest):
        raise _fail(node, f"shape {sizes} may hold -1 once, and nothing else below zero")
    total, part = math.prod(x), math.prod(rest)
    if (part != total) if -1 not in full else (not part or total % part):
        raise _fail(node, f"{total} elements of shape {list(x)} cannot have the shape {sizes}")


def _check_split(node: Any, shapes: Shapes, constants: Mapping[str, np.ndarray]) -> None:
    attributes, x, given = attributes_of(node), shapes.get(node.input[0]), constants.get(operand(node, 1))
    sizes = [int(d) for d in given.reshape(-1)] if given is not None else list(attributes.get("split", []))
    axis = attributes.get("axis", 0)
    if x is None or not -len(x) <= axis < len(x):
        return
    if sizes and (sum(sizes) != x[axis] or len(sizes) != len(node.output) or min(sizes) < 0):
        raise _fail(node, f"parts {sizes} for {len(node.output)} results do not add up to axis {axis} of {list(x)}")


def _check_axis(node: Any, shapes: Shapes, _constants: Mapping[str, np.ndarray]) -> None:
    x, axis = shapes.get(operand(node, 0)), attributes_of(node).get("axis")
    if x is not None and axis is not None and not -len(x) <= axis < len(x):
        raise _fail(node, f"axis {axis} does not exist in shape {list(x)}")


def _check_parameters(node: Any, shapes: Shapes, constants: Mapping[str, np.ndarray]) -> None:
    """One scale serves any axis; several need one that exists."""
    scale, x = constants.get(operand(node, 1)), shapes.get(node.input[0])
    if scale is not None and scale.size > 1 and x is not None and len(x) > 1:
        _check_axis(node, shapes, constants)


def _check_permutation(node: Any, shapes: Shapes, _constants: Mapping[str, np.ndarray]) -> None:
    x, order = shapes.get(node.input[0]), attributes_of(node).get("perm")
    if x is not None and order is not None and sorted(order) != list(range(len(x))):
        raise _fail(node, f"perm {list(order)} does not permute the axes of {list(x)}")


def _check_concat(node: Any, shapes: Shapes, constants: Mapping[str, np.ndarray]) -> None:
    _check_axis(node, shapes, constants)
    known = [shapes[name] for name in node.input if name in shapes]
    axis = attributes_of(node).get("axis", 0)
    others = {tuple(d for i, d in enumerate(s) if i != axis % len(s)) for s in known if s}
    if len(others) > 1:
        raise _fail(node, f"operands of shapes {[list(s) for s in known]} cannot be joined along axis {axis}")


def _check_matmul(node: Any, shapes: Shapes, _constants: Mapping[str, np.ndarray]) -> None:
    a, b = (shapes.get(name) for name in node.input[:2])
    if a and b and a[-1] != (b[-2] if len(b) > 1 else b[0]):
        raise _fail(node, f"operands of shape {list(a)} and {list(b)} cannot be multiplied")


def _check_gemm(node: Any, shapes: Shapes, _constants: Mapping[str, np.ndarray]) -> None:
    a, b = (shapes.get(name) for name in node.input[:2])
    attributes = attributes_of(node)
    depths = [0 if attributes.get("transA") else 1, 1 if attributes.get("transB") else 0]
    if a is None or b is None:
        return
    if len(a) != 2 or len(b) != 2 or a[depths[0]] != b[depths[1]]:
        raise _fail(node, f"operands of shape {list(a)} and {list(b)} cannot be multiplied")


def _check_broadcast(node: Any, shapes: Shapes, _constants: Mapping[str, np.ndarray]) -> None:
    known = [shapes[name] for name in node.input if name in shapes]
    try:
        np.broadcast_shapes(*known)
    except ValueError:
        listed = " and ".join(str(list(s)) for s in known)
        raise _fail(node, f"operands of shapes {listed} do not fit each other") from None


_CHECKS: dict[str, Callable[[Any, Shapes, Mapping[str, np.ndarray]], None]] = {
    "Reshape": _check_reshape,
    "QuantizeLinear": _check_parameters,
    "DequantizeLinear": _check_parameters,
    "Split": _check_split,
    "Transpose": _check_permutation,
    "Concat": _check_concat,
    "MatMul": _check_matmul,
    "Gemm": _check_gemm,
    **dict.fromkeys(("Add", "Sub", "Mul", "Div", "Pow", "PRelu", "Where", "Max", "Min"), _check_broadcast),
    **dict.fromkeys(("Softmax", "LogSoftmax", "Gather", "ArgMax", "ArgMin", "LayerNormalization"), _check_axis),
}
