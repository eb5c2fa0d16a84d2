"""Checks that the operands of a dialect operator fit each other: emitted C would read beyond a buffer otherwise."""

from collections.abc import Callable, Sequence
from typing import Any

from tvm_pulp.errors import UserError
from tvm_pulp.frontend.limits import check_shape
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec

Specs = Sequence[TensorSpec]


def check_operands(operator: str, attributes: dict[str, Any], inputs: Specs, output: TensorSpec, where: str) -> None:
    """Raise where shapes contradict each other; `where` names the node."""
    check_shape(where, output.shape, 4)
    rule = _RULES.get(operator)
    reason = rule(attributes, inputs, output) if rule else None
    if reason is None and Requant.of(attributes).kind != "none":
        reason = _requantization(attributes, inputs, output)
    if reason is not None:
        raise UserError(f"{where}: {reason}: export the model again")


def _windows(attributes: dict[str, Any], inputs: Specs, output: TensorSpec) -> str | None:
    lists = [attributes[k] for k in ("strides", "dilation", "pads")]
    if len(inputs[0].shape) != 4 or [len(v) for v in lists] != [2, 2, 4]:
        return f"strides, dilations and pads {lists} do not fit {inputs[0]}"
    if min(*lists[0], *lists[1]) < 1 or min(lists[2]) < 0 or max(max(v) for v in lists) > 1 << 16:
        return f"strides {lists[0]}, dilations {lists[1]} or pads {lists[2]} are out of range"
    if 0 in output.shape and 0 not in inputs[0].shape:
        return f"the window does not fit {inputs[0]}"
    return None


def _conv2d(attributes: dict[str, Any], inputs: Specs, output: TensorSpec) -> str | None:
    x, weight, groups = inputs[0], inputs[1], attributes["groups"]
    wrong = _windows(attributes, inputs, output)
    if wrong is not None:
        return wrong
    filters, depth = weight.shape[:2]
    if groups < 1 or filters % groups or depth * groups != x.shape[1]:
        return f"weights {weight} in {groups} groups do not fit {x.shape[1]} channels"
    return _bias(attributes, inputs, filters)


def _bias(attributes: dict[str, Any], inputs: Specs, channels: int) -> str | None:
    wrong = attributes["has_bias"] and inputs[2].elements != channels
    return f"a bias of {inputs[2]} does not fit {channels} channels" if wrong else None


def _dense(attributes: dict[str, Any], inputs: Specs, output: TensorSpec) -> str | None:
    x, weight = inputs[:2]
    if not x.shape or len(weight.shape) != 2 or x.shape[-1] != weight.shape[1]:
        return f"weights {weight} do not fit {x}"
    return _bias(attributes, inputs, weight.shape[0])


def _matmul(attributes: dict[str, Any], inputs: Specs, output: TensorSpec) -> str | None:
    a, b = inputs[:2]
    if min(len(a.shape), len(b.shape)) < 2:
        return f"{a} and {b} are not matrices"
    depth = b.shape[-1] if attributes["transpose_b"] else b.shape[-2]
    return f"{a} and {b} cannot be multiplied" if a.shape[-1] != depth else None


def _norm(attributes: dict[str, Any], inputs: Specs, output: TensorSpec) -> str | None:
    wrong = [i for i in inputs[1:] if not inputs[0].shape or i.elements != inputs[0].shape[-1]]
    return f"weights {wrong[0]} do not fit rows of {inputs[0]}" if wrong else None


def _requantization(attributes: dict[str, Any], inputs: Specs, output: TensorSpec) -> str | None:
    rank = len(output.shape)
    axis = int(attributes.get("axis", -1))
    if not rank or not -rank <= axis < rank:
        return f"axis {axis} does not exist in {output}"
    wrong = [i for i in inputs[-2:] if i.elements not in (1, output.shape[axis])]
    return f"requantization constants {wrong[0]} do not fit axis {axis} of {output}" if wrong else None


_RULES: dict[str, Callable[[dict[str, Any], Specs, TensorSpec], str | None]] = {
    "conv2d": _conv2d,
    "dense": _dense,
    "matmul": _matmul,
    "max_pool": _windows,
    "avg_pool": _windows,
    "rms_norm": _norm,
    "layer_norm": _norm,
}
