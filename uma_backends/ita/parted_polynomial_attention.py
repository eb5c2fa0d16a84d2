"""Pass: attention with a polynomial softmax becomes its parts again, whose products the engine runs.

Expects canonical form. Guarantees the same results. Attention with a mask, or whose sums the engine cannot tell
exactly, stays as it is.

    attention(q, k, v)   becomes   matmul(lookup(softmax([lookup](matmul(q, k)))), v)
"""

from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.permute import swapped
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, needed, require, spec_of
from tvm_pulp.qnn.attention import AttentionAttributes, dimensions, operands
from uma_backends.ita.matmul import product_digits
from uma_backends.ita.signed_operands import MOVED

_POLYNOMIAL = ("a", "b", "c", "log2", "levels")


class PartedPolynomialAttention(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        require(qnn.is_qnn(value, "attention"))
        a = qnn.attributes(value, AttentionAttributes)
        of = operands(a, list(value.args))
        zero_point = int(MOVED[0]) if "probability" not in of and a.levels > 128 else 0
        require(not a.has_mask)
        logit_rule, rule = _checked_rules(a, of, zero_point)
        q, k, v = (self._heads_first(of[n], a[f"{n}_layout"], n) for n in "qkv")
        plain = {"zero_point_a": 0, "zero_point_b": 0, "transpose_b": 1, **logit_rule.attributes()}
        logits = self.emit(qnn.emit("matmul", [q, k, of["logit_mul"], of["logit_add"]], plain), "logits")
        if "logit_table" in of:
            logits = self.emit(qnn.emit("lookup", [logits, of["logit_table"]]), "scaled")
        form = {"form": "i_softmax", **{name: a[name] for name in _POLYNOMIAL}}
        weights = self.emit(qnn.emit("softmax", [logits], form), "probabilities")
        weights = self.emit(qnn.emit("lookup", [weights, relax.const(_signed(of, zero_point))]), "weights")
        moved = {"zero_point_a": zero_point, "zero_point_b": 0, "transpose_b": 0, **rule.attributes()}
        mixed = qnn.emit("matmul", [weights, v, of["mul"], of["add"]], moved)
        return mixed if a.y_layout == "hsd" else swapped(self.emit(mixed, "mixed"))

    def _heads_first(self, operand: Any, layout: str, name: str) -> Any:
        return operand if layout == "hsd" else self.emit(swapped(operand), f"{name}_heads")


def _signed(of: dict[str, Any], zero_point: int) -> np.ndarray:
    """The softmax's bytes as int8, by the table that follows it or by moving them."""
    if "probability" in of:
        table = constant(of["probability"])
        return np.pad(table, (0, 256 - len(table)), mode="edge")
    return np.minimum(np.arange(256) + zero_point, 127).astype(np.int8)


def _checked_rules(a: AttentionAttributes, of: dict[str, Any], zero_point: int) -> tuple[qnn.Requant, qnn.Requant]:
    """Requantizations of both products, whose sums must leave the engine exactly."""
    _, _, keys, size = dimensions(a, spec_of(of["q"]), spec_of(of["k"]))
    rules = qnn.Requant.of(a, "logit"), qnn.Requant.of(a)
    for rule, prefix, depth, zero in zip(rules, ("logit_", ""), (size, keys), (0, zero_point), strict=True):
        constants = [needed(constant(of[f"{prefix}{name}"])) for name in ("mul", "add")]
        product_digits(rule, constants, depth, (zero, 0))
    return rules
