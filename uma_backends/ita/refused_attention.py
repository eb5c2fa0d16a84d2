"""Attention whose softmax is another than the engine's, and here is why.

It runs on the cores, the products around it on the engine where they can; `tvmc explain` prints the reason.
"""

from __future__ import annotations

from typing import Any

from tvm_pulp.qnn.network import Layer
from tvm_pulp.uma.strategy import Form, Refusal
from uma_backends.ita.ita_form import ENGINE, Context

_REMEDY = "quantize its logits to steps of ln 2 with a softmax that halves with every step"
_ROUNDS = "its softmax rounds floats as ONNX does, the engine's halves with every step of the logits"
# By pattern: attention that canonical networks spell as one operator, and parts of attention.
REASONS = {
    "attention": "its softmax is a polynomial, the engine's halves with every step of the logits",
    "qdq_attention": _ROUNDS,
    "past_attention": "it masks what is still to come, the engine has no mask",
    "table_attention": f"attention: {_ROUNDS}, so only its products run there",
    "scaled_table_attention": f"attention: {_ROUNDS}, so only its products run there",
}


def refused_pattern(name: str) -> Any:
    """One operator, or the operators of attention; patterns need TVM, so they are made on demand."""
    from tvm.relax.dpl import is_op, wildcard

    def op(operator: str) -> Any:
        return is_op(f"tvm_pulp.qnn.{operator}")

    if not name.endswith("table_attention"):
        return op(name)(varg_default_wildcard=True)
    logits = op("matmul")(varg_default_wildcard=True)
    scaled = op("lookup")(logits, wildcard()) if name.startswith("scaled") else logits
    return op("matmul")(op("softmax")(scaled, wildcard()), wildcard(), wildcard(), wildcard())


def refused_check(match: Any) -> Refusal:
    """None: its softmax is another than the engine's, or has a mask."""
    return _refusal(match.layer)


def refused_strategy(layer: Layer, _context: Context) -> list[Form] | Refusal:
    """Nothing is offered."""
    return _refusal(layer)


def _refusal(layer: Layer) -> Refusal:
    if layer.attributes.get("has_mask"):
        return Refusal(ENGINE, "it has a mask, which the engine's softmax has not")
    return Refusal(ENGINE, REASONS.get(layer.operator, REASONS["table_attention"]), _REMEDY)
