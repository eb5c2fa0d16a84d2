"""Functions that a model defines for itself are replaced by their bodies."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import onnx
from onnx import helper

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.library_errors import refuse_library_errors
from tvm_pulp.frontend.onnx_matmul_nbits import blocked_weights
from tvm_pulp.frontend.onnx_protos import attributes_of, constant_of, label, name_of, operand, result, with_nodes
from tvm_pulp.frontend.onnx_tensors import array, check_tensor, stored_tensors

_Key = tuple[str, str]
# Standard operators that ONNX itself defines by others and that no converter knows.
_DEFINED = (
    *("Attention", "RotaryEmbedding", "CausalConvWithState"),
    *("Celu", "Shrink", "SwiGLU", "CenterCropPad", "MeanVarianceNormalization"),
    *("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"),
    *("BlackmanWindow", "HammingWindow", "HannWindow"),
)
# A definition may use another one of these.
_DEEPEST = 3


def inline_functions(model: Any) -> Any:
    """The model without functions of its own; one that calls itself is a user error."""
    if not model.functions:
        return model
    bodies: dict[_Key, Any] = {(f.domain, f.name): f for f in model.functions}
    done: set[_Key] = set()
    for key in bodies:
        _check_calls(key, bodies, [], done)
    from onnx import inliner

    with refuse_library_errors("the model's own functions cannot be inlined", ": export it without functions"):
        return inliner.inline_local_functions(model)


def inline_standard_functions(model: Any) -> Any:
    """The model with newer standard operators replaced by what ONNX defines them to be."""
    wanted = _defined(model)
    for _ in range(_DEEPEST):
        if not wanted:
            break
        model, before = _written_out(model, wanted), wanted
        wanted = _defined(model)
        if wanted == before:
            break
    return model


def _defined(model: Any) -> set[str]:
    return {n.op_type for n in model.graph.node if n.op_type in _DEFINED and n.domain in ("", "ai.onnx")}


def _written_out(model: Any, wanted: set[str]) -> Any:
    """The model with these operators replaced; the same model where that fails."""
    from onnx import inliner

    stated = with_nodes(model, [_with_defaults(n) if n.domain in ("", "ai.onnx") else n for n in model.graph.node])
    # Definitions depend on types, and the inliner looks for those of constants among the declared values.
    read = {name for n in stated.graph.node if n.op_type in wanted for name in n.input}
    held = [i for i in stated.graph.initializer if i.name in read - {v.name for v in stated.graph.input}]
    stated.graph.value_info.extend(helper.make_tensor_value_info(i.name, i.data_type, i.dims) for i in held)
    try:
        return inliner.inline_selected_functions(stated, [("", op) for op in sorted(wanted)], False, True)
    except Exception:  # malformed nodes; the importer names them
        for node in (n for n in model.graph.node if n.op_type in wanted and n.domain in ("", "ai.onnx")):
            # Of Attention only onnxruntime's operator has a converter.
            refuse_if(
                node.op_type == "Attention" or "" in node.input,
                f"{label(node)}: ONNX's definition of it cannot be written out with these operands: give those that "
                "are left out before others, or export the model with simpler operators",
            )
        return model


def _with_defaults(node: Any) -> Any:
    """The node with the values of attributes that it leaves out: bodies of functions refer to them by name."""
    if node.op_type not in _DEFINED:
        return node
    stated = {a.name for a in node.attribute}
    schema = onnx.defs.get_schema(node.op_type)
    defaults = [a.default_value for name, a in schema.attributes.items() if name not in stated]
    made = onnx.NodeProto()
    made.CopyFrom(node)
    made.attribute.extend(d for d in defaults if d.type != onnx.AttributeProto.UNDEFINED)
    return made


def _check_calls(key: _Key, bodies: dict[_Key, Any], callers: list[_Key], done: set[_Key]) -> None:
    if key in done or key not in bodies:
        return
    if key in callers or len(callers) > 64:
        raise UserError(f"the model's function '{key[1]}' calls itself: export the model without functions")
    for node in bodies[key].node:
        _check_calls((node.domain, node.op_type), bodies, [*callers, key], done)
    done.add(key)


class _Expansion:
    """The nodes that take the place of one."""

    def __init__(self, node: Any, stored: dict[str, Any]) -> None:
        self.node, self._stored = node, stored
        self.attributes = attributes_of(node)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def operand(self, place: int) -> str:
        return operand(self.node, place)

    def number(self, name: str, default: float) -> float:
        return float(self.attributes.get(name, default))

    def stored(self, place: int, name: str) -> np.ndarray | None:
        """A constant operand; None where there is none."""
        if not self.operand(place):
            return None
        if self.operand(place) not in self._stored:
            raise UserError(f"{label(self.node)}: {name} is computed at run time: store it in the model")
        tensor = self._stored[self.operand(place)]
        check_tensor(tensor)
        return array(tensor)

    def result(self, place: int) -> str:
        return result(self.node, place)

    def emit(self, op: str, *operands: str, output: str = "", **attributes: Any) -> str:
        """Append a node; the one that makes a result of the original carries its name."""
        made = output or f"{self.node.output[0]}__{len(self.nodes)}"
        name = name_of(self.node) if output else f"{name_of(self.node)}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(operands), [made], name=name, **attributes))
        return made

    def constant(self, value: Any) -> str:
        name = f"{self.node.output[0]}__constant{len(self.constants)}"
        self.constants.append(constant_of(name, value))
        return name


def _gated(default: float, e: _Expansion) -> None:
    """x · sigmoid(alpha · x), as QuickGelu and Swish are; a factor of one that is the default is not written."""
    x, alpha = e.operand(0), e.number("alpha", default)
    scaled = x if alpha == default == 1 else e.emit("Mul", x, e.constant(np.float32(alpha)))
    e.emit("Mul", x, e.emit("Sigmoid", scaled), output=e.result(0))


def _lp_norm(e: _Expansion) -> None:
    x, axes = e.operand(0), e.constant(np.array([int(e.attributes.get("axis", -1))]))
    if int(e.attributes.get("p", 2)) == 1:
        length = e.emit("ReduceSum", e.emit("Abs", x), axes, keepdims=1)
    else:
        length = e.emit("Sqrt", e.emit("ReduceSum", e.emit("Mul", x, x), axes, keepdims=1))
    # Nothing has no direction: it stays nothing.
    nothing, one = (e.emit("CastLike", e.constant(np.float32(v)), x) for v in (0, 1))
    e.emit("Div", x, e.emit("Where", e.emit("Equal", length, nothing), one, length), output=e.result(0))


def _rms_norm(e: _Expansion) -> None:
    if e.result(1) or e.attributes.get("axis", -1) != -1:
        raise UserError(f"{label(e.node)}: only the normalized value over the last axis is supported: export it again")
    _normalized(e, e.operand(0), e.operand(1), e.number("epsilon", 1e-5))


def _normalized(e: _Expansion, x: str, scale: str, epsilon: float) -> None:
    """x / sqrt(mean(x²) + epsilon) · scale over the last axis."""
    mean = e.emit("ReduceMean", e.emit("Mul", x, x), e.constant(np.array([-1])), keepdims=1)
    root = e.emit("Sqrt", e.emit("Add", mean, e.constant(np.float32(epsilon))))
    e.emit("Mul", e.emit("Div", x, root), scale, output=e.result(0))


def _sum_of_inputs(e: _Expansion, bias: int) -> str:
    """The two inputs and, where there is one, the bias; the fourth result is this sum."""
    if e.result(1) or e.result(2):
        raise UserError(f"{label(e.node)}: mean and deviation as results are not supported: export it again")
    first = e.emit("Add", e.operand(0), e.operand(1), output="" if e.operand(bias) else e.result(3))
    return e.emit("Add", first, e.operand(bias), output=e.result(3)) if e.operand(bias) else first


def _skip_rms_norm(e: _Expansion) -> None:
    _normalized(e, _sum_of_inputs(e, 3), e.operand(2), e.number("epsilon", 1e-12))


def _skip_layer_norm(e: _Expansion) -> None:
    total, epsilon = _sum_of_inputs(e, 4), e.number("epsilon", 1e-12)
    operands = [total, e.operand(2), *([e.operand(3)] if e.operand(3) else [])]
    e.emit("LayerNormalization", *operands, output=e.result(0), axis=-1, epsilon=epsilon)


_STORED_OPERANDS = {"B": 1, "scales": 2, "zero_points": 3, "g_idx": 4}


def _matmul_nbits(e: _Expansion) -> None:
    found = {name: e.stored(place, name) for name, place in _STORED_OPERANDS.items()}
    stored = {name: value for name, value in found.items() if value is not None}
    refuse_if(not {"B", "scales"} <= stored.keys(), f"{label(e.node)} has no weights or no scales: export it again")
    made = blocked_weights(label(e.node), e.attributes, stored)
    if made.per_column:
        operands = [e.constant(v) for v in (made.numbers, made.scales[0], made.zero_points[0])]
        weight = e.emit("DequantizeLinear", *operands, axis=1)
    elif (folded := made.folded()) is not None:
        weight = e.emit("DequantizeLinear", *map(e.constant, folded), axis=1)
    else:
        weight = e.constant(made.real())
    product = e.emit("MatMul", e.operand(0), weight, output="" if e.operand(5) else e.result(0))
    if e.operand(5):
        e.emit("Add", product, e.operand(5), output=e.result(0))


_EXPANSIONS: dict[str, Callable[[_Expansion], None]] = {
    "LpNormalization": _lp_norm,
    "MatMulNBits": _matmul_nbits,
    "QuickGelu": partial(_gated, 1.702),
    "SimplifiedLayerNormalization": _rms_norm,
    "SkipSimplifiedLayerNormalization": _skip_rms_norm,
    "SkipLayerNormalization": _skip_layer_norm,
    "Swish": partial(_gated, 1.0),
}


def expand_contrib(model: Any, opset: int) -> Any:
    """The model without these operators; the same model where it has none. Newer forms need operator set 18."""
    if not any(node.op_type in _EXPANSIONS for node in model.graph.node):
        return model
    stored, nodes, constants = stored_tensors(model.graph), [], []
    for node in model.graph.node:
        if node.op_type not in _EXPANSIONS:
            nodes.append(node)
            continue
        expansion = _Expansion(node, stored)
        _EXPANSIONS[node.op_type](expansion)
        nodes += [_older(n, opset) for n in expansion.nodes]
        constants += expansion.constants
    return with_nodes(model, nodes, constants)


def _older(node: Any, opset: int) -> Any:
    """ReduceMean takes its axes as an attribute before operator set 18."""
    if node.op_type != "ReduceMean" or opset >= 18:
        return node
    del node.input[1:]
    node.attribute.append(helper.make_attribute("axes", [-1]))
    return node
