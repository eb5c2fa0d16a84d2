"""Operators element by element, activation functions, norms and softmax."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tvm_pulp.frontend.onnx_graph_builder import onnx_type
from tvm_pulp.frontend.stablehlo_program.meanings import NARROW
from tvm_pulp.frontend.stablehlo_program.node import StablehloNode
from tvm_pulp.frontend.stablehlo_program.placed_values import Placed, PlacedValues

Operator = Callable[[PlacedValues, StablehloNode], Placed]
Operators = dict[str, Operator]


def unary(op: str, **attributes: Any) -> Operator:
    return of_one(lambda v, node, x: v.g.emit(op, x, **attributes))


def of_one(write: Callable[[PlacedValues, StablehloNode, str], str]) -> Operator:
    """A function of one tensor, as it lies."""

    def written(v: PlacedValues, node: StablehloNode) -> Placed:
        order = v.order(node.operands[0])
        return Placed(write(v, node, v.ordered(node.operands[0], order)), order)

    return written


def broadcast(write: Callable[..., str]) -> Operator:
    """A function of several tensors, element by element; ONNX broadcasts them."""

    def written(v: PlacedValues, node: StablehloNode) -> Placed:
        order = v.order(*node.operands)
        given = [v.thin(o, order) for o in node.operands]
        wanted = tuple(node.shape[a] for a in order)
        names = [name for name, _ in given]
        if np.broadcast_shapes(*(shape for _, shape in given)) != wanted:
            names[-1] = v.g.emit("Expand", names[-1], v.g.integers(*wanted))
        return Placed(write(v, node, *names), order)

    return written


def binary(op: str, of_booleans: str = "") -> Operator:
    def write(v: PlacedValues, node: StablehloNode, *names: str) -> str:
        chosen = of_booleans if of_booleans and node.operands[0].dtype == "bool" else op
        return v.g.emit(chosen, *names)

    return broadcast(write)


_COMPARISONS = {"LT": "Less", "LE": "LessOrEqual", "GT": "Greater", "GE": "GreaterOrEqual", "EQ": "Equal"}


def _compare(v: PlacedValues, node: StablehloNode, x: str, y: str) -> str:
    direction = node.attributes["comparison_direction"]
    if direction == "NE":
        return v.g.emit("Not", v.g.emit("Equal", x, y))
    return v.g.emit(_COMPARISONS[direction], x, y)


def _clamp(v: PlacedValues, node: StablehloNode, low: str, x: str, high: str) -> str:
    bounds = [node.operands[0].scalar, node.operands[2].scalar]
    if node.is_float and None not in bounds:
        return v.g.emit("Clip", x, *(np.asarray(b, node.dtype) for b in bounds))
    return v.g.emit("Min", v.g.emit("Max", x, low), high)


def _convert(v: PlacedValues, node: StablehloNode, x: str) -> str:
    """Numbers beyond the range of few bits become the nearest one, as XLA has it; ONNX leaves that open."""
    (source,) = node.operands
    if source.is_float and node.dtype in NARROW and not _is_within(source, node.dtype):
        ends = np.iinfo(node.dtype)
        x = v.g.emit("Clip", x, *(np.asarray(end, source.dtype) for end in (ends.min, ends.max)))
    return v.g.emit("Cast", x, to=onnx_type(node.dtype))


def _is_within(source: StablehloNode, dtype: str) -> bool:
    """Tell if bounds are stated that lie in the range of a type."""
    inner, bounds = source, []
    while inner.op in ("clamp", "minimum", "maximum", "round_nearest_even"):
        bounds += [o.scalar for o in inner.operands if o.scalar is not None]
        inner = next((o for o in inner.operands if o.array is None), inner.operands[0])
    ends = np.iinfo(dtype)
    return len(bounds) == 2 and all(ends.min <= b <= ends.max for b in bounds) and bounds[0] != bounds[1]


def _number(node: StablehloNode, value: float) -> np.ndarray:
    return np.asarray(value, node.operands[0].dtype)


def _along(op: str, v: PlacedValues, node: StablehloNode) -> Placed:
    """Along one axis of the tensor as it lies."""
    order = v.order(node.operands[0])
    # The last axis stays the last: that is where softmax is fast.
    axis = node.attributes["axis"]
    if axis == node.rank - 1 and order[-1] != axis:
        order = tuple(range(node.rank))
    return Placed(v.g.emit(op, v.ordered(node.operands[0], order), axis=order.index(axis)), order)


def _layer_norm(v: PlacedValues, node: StablehloNode) -> Placed:
    (source, *parameters), a = node.operands, node.attributes
    held = [p.array for p in parameters]
    made = v.g.emit("LayerNormalization", v.natural(source), *held, axis=-a["axes"], epsilon=a["epsilon"])
    return v.place(node, made)


def _rms_norm(v: PlacedValues, node: StablehloNode) -> Placed:
    """In standard operators: ONNX' own norm is younger than what the quantizers know."""
    source, scale = node.operands
    x = v.natural(source)
    axes = v.g.integers(*range(node.rank - node.attributes["axes"], node.rank))
    mean = v.g.emit("ReduceMean", v.g.emit("Mul", x, x), axes, keepdims=1)
    root = v.g.emit("Sqrt", v.g.emit("Add", mean, np.float32(node.attributes["epsilon"])))
    normal = v.g.emit("Mul", x, v.g.emit("Reciprocal", root))
    return v.place(node, v.g.emit("Mul", normal, scale.array))


# Operators with ONNX' name for them, and with another.
_SAME = (
    *("Abs", "Acos", "Asin", "Atan", "Ceil", "Cosh", "Erf", "Floor", "Log", "Mish", "Relu", "Sign", "Sinh"),
    *("Softplus", "Softsign", "Sqrt", "Tan", "Tanh"),
)
_RENAMED = {
    "cosine": "Cos",
    "exponential": "Exp",
    "hard_swish": "HardSwish",
    "logistic": "Sigmoid",
    "negate": "Neg",
    "round_nearest_even": "Round",
    "sine": "Sin",
}


OPERATORS: Operators = {
    **{op.lower(): unary(op) for op in _SAME},
    **{name: unary(op) for name, op in _RENAMED.items()},
    "add": binary("Add", "Or"),
    "and": binary("BitwiseAnd", "And"),
    "divide": binary("Div"),
    "maximum": binary("Max", "Or"),
    "minimum": binary("Min", "And"),
    "multiply": binary("Mul", "And"),
    "or": binary("BitwiseOr", "Or"),
    "power": binary("Pow"),
    "remainder": broadcast(lambda v, node, x, y: v.g.emit("Mod", x, y, fmod=1)),
    "subtract": binary("Sub"),
    "xor": binary("BitwiseXor", "Xor"),
    "clamp": broadcast(_clamp),
    "compare": broadcast(_compare),
    "select": broadcast(lambda v, node, *names: v.g.emit("Where", *names)),
    "convert": of_one(_convert),
    "copy": of_one(lambda v, node, x: x),
    "not": of_one(lambda v, node, x: v.g.emit("Not" if node.dtype == "bool" else "BitwiseNot", x)),
    "square": of_one(lambda v, node, x: v.g.emit("Mul", x, x)),
    "rsqrt": of_one(lambda v, node, x: v.g.emit("Reciprocal", v.g.emit("Sqrt", x))),
    "cbrt": of_one(
        lambda v, node, x: v.g.emit(
            "Mul", v.g.emit("Sign", x), v.g.emit("Pow", v.g.emit("Abs", x), _number(node, 1 / 3))
        )
    ),
    "exponential_minus_one": of_one(lambda v, node, x: v.g.emit("Sub", v.g.emit("Exp", x), _number(node, 1))),
    "log_plus_one": of_one(lambda v, node, x: v.g.emit("Log", v.g.emit("Add", x, _number(node, 1)))),
    "erfc": of_one(lambda v, node, x: v.g.emit("Sub", _number(node, 1), v.g.emit("Erf", x))),
    "is_finite": of_one(lambda v, node, x: v.g.emit("Less", v.g.emit("Abs", x), _number(node, np.inf))),
    "round_nearest_afz": of_one(
        lambda v, node, x: v.g.emit(
            "Mul", v.g.emit("Sign", x), v.g.emit("Floor", v.g.emit("Add", v.g.emit("Abs", x), _number(node, 0.5)))
        )
    ),
    "gelu": of_one(lambda v, node, x: v.g.emit("Gelu", x, approximate=node.attributes["approximate"])),
    "silu": of_one(lambda v, node, x: v.g.emit("Mul", x, v.g.emit("Sigmoid", x))),
    "hard_sigmoid": unary("HardSigmoid", alpha=1 / 6, beta=0.5),
    "relu6": of_one(lambda v, node, x: v.g.emit("Clip", x, _number(node, 0), _number(node, 6))),
    "selu": unary("Selu", alpha=1.6732632423543772, gamma=1.0507009873554805),
    "elu": of_one(lambda v, node, x: v.g.emit("Elu", x, alpha=node.attributes["alpha"])),
    "leaky_relu": of_one(lambda v, node, x: v.g.emit("LeakyRelu", x, alpha=node.attributes["alpha"])),
    "softmax": partial(_along, "Softmax"),
    "log_softmax": partial(_along, "LogSoftmax"),
    "layer_norm": _layer_norm,
    "rms_norm": _rms_norm,
}
