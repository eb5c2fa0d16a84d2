"""Attention whose softmax is another than the engine's, and why it is.

It runs on the cores, the products around it on the engine where they can; `tvmc explain` prints the reason.
"""

from typing import Any

from tvm_pulp.qnn.network import Layer
from tvm_pulp.uma import Form, Refusal, pattern_of
from uma_backends.ita.ita_form import ENGINE, ItaContext

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
_SCALED, _ROUNDED, _TABLE, _PLAIN = ("lookup", 1), ("requantize", 2), ("softmax", 1), ("softmax", 0)
# By pattern: attention in parts; operators between logits and values, and how many constants each has.
PARTS: dict[str, tuple[tuple[str, int], ...]] = {
    "table_attention": (_TABLE,),
    "scaled_table_attention": (_SCALED, _TABLE),
    "rounded_table_attention": (_ROUNDED, _TABLE),
    "rounded_scaled_table_attention": (_ROUNDED, _SCALED, _TABLE),
    "polynomial_attention": (_PLAIN, _SCALED),
    "scaled_polynomial_attention": (_SCALED, _PLAIN, _SCALED),
}


def refused_pattern(name: str) -> Any:
    """One operator, or the operators of attention."""
    if name not in PARTS:
        return pattern_of(name)
    value = pattern_of("matmul")
    for operator, constants in PARTS[name]:
        value = pattern_of(operator, value, *[None] * constants)
    return pattern_of("matmul", value, None, None, None)


def refused_strategy(layer: Layer, _context: ItaContext) -> list[Form] | Refusal:
    """Nothing is offered: its softmax is another than the engine's, or has a mask."""
    if layer.attributes.get("has_mask"):
        return Refusal(ENGINE, "it has a mask, which the engine's softmax has not")
    if layer.operator in REASONS:
        return Refusal(ENGINE, REASONS[layer.operator], _REMEDY)
    form = next(part.attributes["form"] for part in layer.parts if part.operator == "softmax")
    reasons = {"table": _ROUNDS, "i_softmax": _POLYNOMIAL}
    why = reasons.get(form, f"its softmax is of the form {form}, the engine's halves with every step of the logits")
    return Refusal(ENGINE, f"{why}, {_PARTS}", _REMEDY)
