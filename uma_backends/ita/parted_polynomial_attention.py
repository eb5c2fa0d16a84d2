"""Pass: attention with a polynomial softmax becomes its parts again, whose products the engine runs.

Expects canonical form. Guarantees the same results. Attention with a mask, or whose sums the engine cannot tell
exactly, stays as it is.

    attention(q, k, v)   becomes   matmul(lookup(softmax([lookup](matmul(q, k)))), v)
"""

from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant
from tvm_pulp.qnn.attention import dimensions, operands
from tvm_pulp.qnn.operator import spec_of
from tvm_pulp.qnn.requant import Requant
from uma_backends.ita.matmul_digits import product_digits
from uma_backends.ita.signed_operands import MOVED
from uma_backends.ita.transposed_values import SWAP

_POLYNOMIAL = ("a", "b", "c", "log2", "levels")


class PartedPolynomialAttention(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        if not qnn.is_qnn(value, "attention"):
            return value
        a = qnn.attributes(value)
        of = operands(a, list(value.args))
        zero_point = int(MOVED[0]) if "probability" not in of and a["levels"] > 128 else 0
        if a["has_mask"] or not _fits(a, of, zero_point):
            return value
        q, k, v = (self._heads_first(of[n], a[f"{n}_layout"], n) for n in "qkv")
        fixed = {"zero_point_a": 0, "zero_point_b": 0, "transpose_b": 1}
        rule = {**fixed, **Requant.of(a, "logit").attributes()}
        logits = self.emit(qnn.emit("matmul", [q, k, of["logit_mul"], of["logit_add"]], rule), "logits")
        if "logit_table" in of:
            logits = self.emit(qnn.emit("lookup", [logits, of["logit_table"]]), "scaled")
        form = {"form": "i_softmax", **{name: a[name] for name in _POLYNOMIAL}}
        weights = self.emit(qnn.emit("softmax", [logits], form), "probabilities")
        weights = self.emit(qnn.emit("lookup", [weights, relax.const(_signed(of, zero_point))]), "weights")
        rule = {**fixed, "zero_point_a": zero_point, "transpose_b": 0, **Requant.of(a).attributes()}
        mixed = qnn.emit("matmul", [weights, v, of["mul"], of["add"]], rule)
        return mixed if a["y_layout"] == "hsd" else qnn.emit("transpose", [self.emit(mixed, "mixed")], {"axes": SWAP})

    def _heads_first(self, operand: Any, layout: str, name: str) -> Any:
        if layout == "hsd":
            return operand
        return self.emit(qnn.emit("transpose", [operand], {"axes": SWAP}), f"{name}_heads")


def _signed(of: dict[str, Any], zero_point: int) -> np.ndarray:
    """The softmax's bytes as int8, by the table that follows it or by moving them."""
    if "probability" in of:
        table = constant(of["probability"])
        return np.pad(table, (0, 256 - len(table)), mode="edge")
    return np.minimum(np.arange(256) + zero_point, 127).astype(np.int8)


def _fits(a: dict[str, Any], of: dict[str, Any], zero_point: int) -> bool:
    """Tell if sums of both products leave the engine exactly."""
    _, _, keys, size = dimensions(a, spec_of(of["q"]), spec_of(of["k"]))
    for rule, names, depth, zero in (
        (Requant.of(a, "logit"), ("logit_mul", "logit_add"), size, 0),
        (Requant.of(a), ("mul", "add"), keys, zero_point),
    ):
        constants = [constant(of[name]) for name in names]
        if any(c is None for c in constants) or isinstance(product_digits(rule, constants, depth, (zero, 0)), str):
            return False
    return True
