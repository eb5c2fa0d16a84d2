"""Attributes and operands of ONNX nodes that contradict each other, found before a node is converted.

TVM's importer takes some of them in silence and refuses others without saying where; here each is one sentence, and
whoever converts the node puts its name before it.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.limits import MOST_AXES
from tvm_pulp.frontend.onnx_conversion import Conversion
from tvm_pulp.frontend.onnx_file import Graph
from tvm_pulp.frontend.onnx_protos import label, operand
from tvm_pulp.window import Window

Constants = Mapping[str, np.ndarray]
# Operators that move a window, and the operand that holds the weights.
_WEIGHTS = {"Conv": 1, "ConvTranspose": 1, "ConvInteger": 1, "QLinearConv": 3}
WINDOWS = (*_WEIGHTS, "MaxPool", "AveragePool", "LpPool")
GLOBAL_POOLS = ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool", "QLinearGlobalAveragePool")
# Products of two matrices, and the operands that these are.
_FACTORS = {
    **dict.fromkeys(("MatMul", "Gemm", "MatMulInteger", "MatMulIntegerToFloat"), (0, 1)),
    **dict.fromkeys(("QLinearMatMul", "QGemm"), (0, 3)),
}
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
# Attributes that count axes, and the operand that does so in newer operator sets.
_AXES = frozenset({"axis", "axes", "perm", "batch_dims", "split_axis"})
_AXES_OPERAND = {
    **dict.fromkeys(("Squeeze", "Unsqueeze", "ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd"), 1),
    **dict.fromkeys(("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare", "CumSum"), 1),
    **dict.fromkeys(("Slice", "Pad"), 3),
}
# Bounds of a slice may name "the end" by the largest number there is.
_ANY_SIZE = frozenset({"starts", "ends"})
_LARGEST = 1 << 24
# A window reaches, moves and is padded by no more.
_WIDEST = 1 << 16
# Where scales and zero points stand among the operands.
_BINARY, _UNARY = [(1, 2), (4, 5), (6, 7)], [(1, 2), (3, 4)]
_PARAMETERS = {
    **dict.fromkeys(("QuantizeLinear", "DequantizeLinear"), _BINARY[:1]),
    **dict.fromkeys(("QLinearConv", "QLinearMatMul", "QLinearAdd", "QLinearMul"), _BINARY),
    **dict.fromkeys(("QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax"), _UNARY),
    **dict.fromkeys(("QLinearGlobalAveragePool", "QLinearAveragePool", "QLinearReduceMean"), _UNARY),
    "QGemm": [(1, 2), (4, 5), (7, 8)],
}
_ZERO_POINT_TYPES = ("int8", "uint8", "int16", "uint16", "int32")


def check_attributes(nodes: Iterable[Any], constants: Constants) -> None:
    """Raise for axes, strides, groups and the like that no exporter writes, before 32-bit code sees them."""
    for node in nodes:
        for attribute in node.attribute:
            limit = MOST_AXES if attribute.name in _AXES else _LARGEST
            large = [n for n in (*attribute.ints, attribute.i) if abs(n) > limit and attribute.name not in _ANY_SIZE]
            if large:
                raise _fail(node, f"attribute '{attribute.name}' is {large[0]}")
        place = _AXES_OPERAND.get(node.op_type)
        axes = constants.get(operand(node, place)) if place is not None else None
        if axes is not None and axes.dtype.kind in "iu" and any(abs(int(a)) > MOST_AXES for a in axes.reshape(-1)):
            raise _fail(node, f"axes {axes.reshape(-1)[:4].tolist()} do not exist")


def check_quantization(graph: Graph) -> None:
    """Raise for scales that are zero, negative or not finite, and for zero points of a type nobody quantizes to."""
    for node in graph.model.graph.node:
        places = _PARAMETERS.get(node.op_type, [])
        if node.op_type == "QLinearConcat":
            places = [(0, 1), *((i, i + 1) for i in range(3, len(node.input), 3))]
        for name, zero_point in ((operand(node, s), graph.constants.get(operand(node, z))) for s, z in places):
            scale = graph.constants.get(name, np.ones(1))
            if not np.issubdtype(scale.dtype, np.floating):
                raise UserError(f"{label(node)}: scale '{name}' is {scale.dtype}, not a float: re-export the model")
            if scale.size == 0 or not np.isfinite(scale).all() or (scale <= 0).any():
                raise UserError(
                    f"{label(node)}: scale '{name}' must be positive and finite: quantize the model again, without "
                    "nodes whose values have no bounds (onnxruntime: nodes_to_exclude)"
                )
            if zero_point is not None and str(zero_point.dtype) not in _ZERO_POINT_TYPES:
                kind, known = zero_point.dtype, ", ".join(_ZERO_POINT_TYPES)
                raise UserError(f"{label(node)}: quantization to {kind} is not supported; use one of {known}")


def check_node(c: Conversion, where: str = "") -> None:
    """Raise for windows, groups, reshapes, splits and the like that cannot be; `where` names the node."""
    reason = _CHECKS[c.op_type](c) if c.op_type in _CHECKS else None
    refuse_if(reason, f"{where}{reason}: export the model again")


def _fail(node: Any, reason: str) -> UserError:
    return UserError(f"{label(node)}: {reason}: export the model again")


def check_form(node: Any, opset: int) -> None:
    """Types of attributes and number of operands, against the operator's own definition."""
    if not onnx.defs.has(node.op_type) or not (node.op_type in _CHECKS or node.domain in ("", "ai.onnx")):
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


# What follows gives the reason why a node cannot be, or None.


def _window(c: Conversion) -> str | None:
    if c.auto_pad not in _AUTO_PADS:
        return f"auto_pad '{c.auto_pad}' is unknown, it is one of {', '.join(_AUTO_PADS)}"
    x, weight = c.known_shape(0), c.known_shape(_WEIGHTS[c.op_type]) if c.op_type in _WEIGHTS else None
    known = weight if x is None else x
    if known is not None and len(known) < 3:
        return f"an operand of shape {list(known)} has no axis to move a window over"
    for name, factor, least in (("kernel_shape", 1, 1), ("strides", 1, 1), ("dilations", 1, 1), ("pads", 2, 0)):
        values = c.attributes.get(name, ())
        count = len(values) if known is None or name not in c.attributes else factor * (len(known) - 2)
        if len(values) != count:
            return f"{name} {list(values)} should be {count} numbers for {count // factor} axes"
        if not all(least <= v <= _WIDEST for v in values):
            return f"{name} {list(values)} must be at least {least}, and {_WIDEST} at most"
    wrong = None if weight is None else _weights(c, x, weight)
    window = c.attributes.get("kernel_shape") or (weight[2:] if weight is not None else None)
    if wrong or x is None or window is None or c.op_type == "ConvTranspose" or c.auto_pad.startswith("SAME"):
        return wrong
    return _reach(c, x[2:], window)


def _all_places(c: Conversion) -> str | None:
    """Of pools over everything but batch and channels."""
    x = c.known_shape(0)
    return f"an operand of shape {list(x)} has no axis to pool over" if x is not None and len(x) < 3 else None


def _reach(c: Conversion, size: tuple[int, ...], window: Sequence[int]) -> str | None:
    none, dilations = [0] * 2 * len(size), c.numbers("dilations", [1] * len(size))
    pads = none if c.auto_pad == "VALID" else c.numbers("pads", none)
    axes = zip(size, window, dilations, pads[: len(size)], pads[len(size) :], strict=True)
    if all(Window(k, 1, d, before, after).output_extent(n) > 0 for n, k, d, before, after in axes):
        return None
    reach = f"window {list(window)}, dilated by {dilations} and padded by {pads},"
    return f"its {reach} does not fit {list(size)}"


def _weights(c: Conversion, x: tuple[int, ...] | None, weight: tuple[int, ...]) -> str | None:
    kernel, groups = c.attributes.get("kernel_shape"), c.attributes.get("group", 1)
    if kernel is not None and tuple(kernel) != weight[2:]:
        return f"kernel_shape {list(kernel)} contradicts its weights of shape {list(weight)}"
    if groups < 1:
        return f"group {groups} must be at least 1"
    if x is None:
        return None
    if len(weight) != len(x):
        return f"weights of shape {list(weight)} do not fit an operand of shape {list(x)}"
    if x[1] != (weight[0] if c.op_type == "ConvTranspose" else weight[1] * groups):
        return f"{x[1]} channels in {groups} groups do not fit its weights of shape {list(weight)}"
    return f"its {weight[0]} filters cannot be divided into {groups} groups" if weight[0] % groups else None


def _reshape(c: Conversion) -> str | None:
    x, wanted = c.known_shape(0), c.constant(1)
    if wanted is None or x is None or wanted.ndim != 1:
        return None
    sizes, zero_stays = [int(d) for d in wanted], not c.attributes.get("allowzero")
    if any(d == 0 and zero_stays for d in sizes[len(x) :]):
        return f"shape {sizes} copies an axis that {list(x)} does not have"
    full = [x[i] if d == 0 and zero_stays else d for i, d in enumerate(sizes)]
    rest = [d for d in full if d != -1]
    if full.count(-1) > 1 or any(d < 0 for d in rest):
        return f"shape {sizes} may hold -1 once, and nothing else below zero"
    total, part = math.prod(x), math.prod(rest)
    wrong = part != total if -1 not in full else not part or total % part
    return f"{total} elements of shape {list(x)} cannot have the shape {sizes}" if wrong else None


def _split(c: Conversion) -> str | None:
    x, given, axis = c.known_shape(0), c.constant(1), c.attributes.get("axis", 0)
    sizes = [int(d) for d in given.reshape(-1)] if given is not None else c.numbers("split", [])
    if x is None or not -len(x) <= axis < len(x) or not sizes:
        return None
    if sum(sizes) == x[axis] and len(sizes) == c.results and min(sizes) >= 0:
        return None
    return f"parts {sizes} for {c.results} results do not add up to axis {axis} of {list(x)}"


def _axis(c: Conversion) -> str | None:
    x, axis = c.known_shape(0), c.attributes.get("axis", 0 if c.op_type == "Gather" else None)
    wrong = x is not None and axis is not None and not -len(x) <= axis < len(x)
    return f"axis {axis} does not exist in shape {list(x or ())}" if wrong else None


def _parameters(c: Conversion) -> str | None:
    """One scale serves any axis; several need one that exists."""
    scale, x = c.constant(1), c.known_shape(0)
    several = scale is not None and scale.size > 1 and x is not None and len(x) > 1
    return _axis(c) if several else None


def _permutation(c: Conversion) -> str | None:
    x, order = c.known_shape(0), c.attributes.get("perm")
    wrong = x is not None and order is not None and sorted(order) != list(range(len(x)))
    return f"perm {list(order or ())} does not permute the axes of {list(x or ())}" if wrong else None


def _concat(c: Conversion) -> str | None:
    wrong, known, axis = _axis(c), c.known_shapes(), c.attributes.get("axis", 0)
    others = {tuple(d for i, d in enumerate(s) if i != axis % len(s)) for s in known if s}
    if wrong or len(others) < 2:
        return wrong
    return f"operands of shapes {[list(s) for s in known]} cannot be joined along axis {axis}"


def _product(c: Conversion) -> str | None:
    """Of MatMul and its kin, and of Gemm, which takes matrices only and may turn them."""
    a, b = (c.known_shape(place) for place in _FACTORS[c.op_type])
    if a is None or b is None:
        return None
    if c.op_type.endswith("Gemm"):
        depths = 0 if c.attributes.get("transA") else 1, 1 if c.attributes.get("transB") else 0
        fits = len(a) == len(b) == 2 and a[depths[0]] == b[depths[1]]
    else:
        batches = zip(a[-3::-1], b[-3::-1], strict=False)
        fits = (
            bool(a and b)
            and a[-1] == (b[-2] if len(b) > 1 else b[0])
            and all(1 in two or len({*two}) == 1 for two in batches)
        )
    return None if fits else f"operands of shape {list(a)} and {list(b)} cannot be multiplied"


def _broadcast(c: Conversion) -> str | None:
    known = c.known_shapes()
    try:
        np.broadcast_shapes(*known)
    except ValueError:
        return f"operands of shapes {' and '.join(str(list(s)) for s in known)} do not fit each other"
    return None


_CHECKS: dict[str, Callable[[Conversion], str | None]] = {
    **dict.fromkeys(WINDOWS, _window),
    **dict.fromkeys(GLOBAL_POOLS, _all_places),
    "Reshape": _reshape,
    "QuantizeLinear": _parameters,
    "DequantizeLinear": _parameters,
    "Split": _split,
    "Transpose": _permutation,
    "Concat": _concat,
    **dict.fromkeys(_FACTORS, _product),
    **dict.fromkeys(("Add", "Sub", "Mul", "Div", "Pow", "PRelu", "Where", "Max", "Min"), _broadcast),
    **dict.fromkeys(("Softmax", "LogSoftmax", "Gather", "ArgMax", "ArgMin", "LayerNormalization"), _axis),
}
