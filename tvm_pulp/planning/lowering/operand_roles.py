"""What the operands of operators are for: constants are named after it."""

from __future__ import annotations

from typing import Any

from tvm_pulp.qnn.requant import Requant

# Operands in order, as each operator's file says; requantization tensors come behind them.
_ROLES = {
    "add": ("a", "b"),
    "add_accumulators": ("a", "b", "mul_a", "mul_b"),
    "attention": ("q", "k", "v"),
    "conv2d": ("x", "weight", "bias"),
    "dense": ("x", "weight", "bias"),
    "dequantize": ("x", "scale", "zero_point"),
    "float_conv2d": ("x", "weight", "bias"),
    "float_matmul": ("a", "weight", "bias"),
    "float_norm": ("x", "weight", "bias"),
    "float_softmax": ("x", "points"),
    "gather": ("table", "indices"),
    "group_norm": ("x", "weight", "bias"),
    "layer_norm": ("x", "weight", "bias"),
    "lookup": ("x", "table"),
    "matmul": ("a", "b"),
    "mul": ("a", "b"),
    "no_norm": ("x", "weight", "bias"),
    "past_attention": ("q", "k", "v", "past_k", "past_v", "length", "exponential"),
    "qdq_mul": ("a", "b"),
    "qdq_rope": ("x", "cosine", "sine", "first", "second"),
    "quantize": ("x", "scale", "inverse_scale", "zero_point"),
    "rms_norm": ("x", "weight"),
    "rotary": ("x", "rotation"),
    "softmax": ("x", "table"),
    "sub": ("a", "b"),
}
# Tensors of a requantization, by its kind.
_REQUANT_ROLES = {
    "tflite": ("mul", "exponent"),
    "half_up": ("mul", "shift"),
    "half_even": ("mul", "shift"),
    "shift": ("shift", "add"),
}


def operand_role(operator: str, attributes: dict[str, Any], position: int, count: int) -> str:
    """What operand number `position` of `count` is for; "constant" where only its operator could tell."""
    rule = Requant.of(attributes)
    behind = position - (count - (rule.operands if _has_tensors(operator, attributes) else 0))
    if behind >= 0:
        return _REQUANT_ROLES.get(rule.kind, ("mul", "add"))[behind]
    roles = _ROLES.get(operator, ())
    return roles[position] if position < len(roles) else "constant"


def _has_tensors(operator: str, attributes: dict[str, Any]) -> bool:
    """Whether the requantization of an operator comes with tensors: some sums name only its range."""
    return operator != "add_accumulators" and (operator != "add" or attributes.get("form") == "plain")
