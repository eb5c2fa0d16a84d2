"""Attention that canonical networks spell as one operator: none of them has the engine's softmax, and here is why.

They run on the cores; `tvmc explain` prints the reason.
"""

from __future__ import annotations

from typing import Any

from tvm_pulp.qnn.network import Layer
from tvm_pulp.uma.strategy import Form, Refusal
from uma_backends.ita.ita_form import ENGINE, Context

_REMEDY = "quantize its logits to steps of ln 2 with a softmax that halves with every step"
REASONS = {
    "attention": "its softmax is a polynomial, the engine's halves with every step of the logits",
    "qdq_attention": "its softmax rounds floats as ONNX does, the engine's halves with every step of the logits",
    "past_attention": "it masks what is still to come, the engine has no mask",
}


def refused_pattern(operator: str) -> Any:
    """One operator; patterns need TVM, so they are made on demand."""
    from tvm.relax.dpl import is_op

    return is_op(f"tvm_pulp.qnn.{operator}")(varg_default_wildcard=True)


def refused_check(match: Any) -> Refusal:
    """None: its softmax is another than the engine's, or has a mask."""
    return _refusal(match.layer)


def refused_strategy(layer: Layer, _context: Context) -> list[Form] | Refusal:
    """Nothing is offered."""
    return _refusal(layer)


def _refusal(layer: Layer) -> Refusal:
    if layer.attributes.get("has_mask"):
        return Refusal(ENGINE, "it has a mask, which the engine's softmax has not")
    return Refusal(ENGINE, REASONS[layer.operator], _REMEDY)
