"""Attention whose softmax is another than the engine's, and why it is.

It runs on the cores, the products around it on the engine where they can; `tvmc explain` prints the reason.
"""

from typing import Any

from tvm_pulp.qnn.network import Layer
from tvm_pulp.uma.strategy import Form, Refusal
from uma_backends.ita.ita_form import ENGINE, Context

_REMEDY = "quantize its logits to steps of ln 2 with a softmax that halves with every step"
_POLYNOMIAL = "its softmax is a polynomial, the engine's halves with every step of the logits"
_ROUNDS = "its softmax rounds floats as ONNX does, the engine's halves with every step of the logits"
_PARTS = "so only its products run there"
# By pattern: attention that canonical networks spell as one operator.
REASONS = {
    "attention": _POLYNOMIAL,
    "qdq_attention": _ROUNDS,
    "past_attention": "it masks what is still to come, the engine has no mask",
}
# By pattern: attention in parts; operators between logits and softmax and behind it, operands of the softmax.
PARTS: dict[str, tuple[tuple[str, ...], tuple[str, ...], int]] = {
    "table_attention": ((), (), 2),
    "scaled_table_attention": (("lookup",), (), 2),
    "rounded_table_attention": (("requantize",), (), 2),
    "rounded_scaled_table_attention": (("requantize", "lookup"), (), 2),
    "polynomial_attention": ((), ("lookup",), 1),
    "scaled_polynomial_attention": (("lookup",), ("lookup",), 1),
}

_CONSTANTS = {"lookup": 1, "requantize": 2}


def refused_pattern(name: str) -> Any:
    """One operator, or the operators of attention; patterns need TVM, so they are made on demand."""
    from tvm.relax.dpl import is_op, wildcard

    def op(operator: str) -> Any:
        return is_op(f"tvm_pulp.qnn.{operator}")

    if name not in PARTS:
        return op(name)(varg_default_wildcard=True)
    before, behind, operands = PARTS[name]
    value = op("matmul")(varg_default_wildcard=True)
    for operator in before:
        value = op(operator)(value, *(wildcard() for _ in range(_CONSTANTS[operator])))
    value = op("softmax")(value, *(wildcard() for _ in range(operands - 1)))
    for operator in behind:
        value = op(operator)(value, *(wildcard() for _ in range(_CONSTANTS[operator])))
    return op("matmul")(value, wildcard(), wildcard(), wildcard())


def refused_strategy(layer: Layer, _context: Context) -> list[Form] | Refusal:
    """Nothing is offered: its softmax is another than the engine's, or has a mask."""
    if layer.attributes.get("has_mask"):
        return Refusal(ENGINE, "it has a mask, which the engine's softmax has not")
    if layer.operator in REASONS:
        return Refusal(ENGINE, REASONS[layer.operator], _REMEDY)
    form = next(part.attributes["form"] for part in layer.parts if part.operator == "softmax")
    reasons = {"table": _ROUNDS, "i_softmax": _POLYNOMIAL}
    why = reasons.get(form, f"its softmax is of the form {form}, the engine's halves with every step of the logits")
    return Refusal(ENGINE, f"{why}, {_PARTS}", _REMEDY)
