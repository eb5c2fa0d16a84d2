"""Pass: the chain of small operators that spells attention becomes one operator.

Expects canonical form with transposes folded and functions of bytes as tables. Matches, where nothing in between has
another reader:

    matmul(q, k, transpose_b) -> [lookup] -> [add mask] -> softmax(i_softmax) -> [lookup] -> matmul(., v) -> [transpose]

and takes transposes of heads and positions on q, k, v and the result into the operator's layouts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant
from tvm_pulp.qnn.operator import spec_of

_SWAP = [0, 2, 1, 3]


class FuseAttention(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        if qnn.is_qnn(value, "matmul"):
            fused = self._attention(value)
            return value if fused is None else fused
        if qnn.is_qnn(value, "transpose") and qnn.attributes(value)["axes"] == _SWAP:
            inner = self._single(value.args[0], "attention")
            if inner is not None:
                attributes = qnn.attributes(inner)
                attributes["y_layout"] = "shd" if attributes["y_layout"] == "hsd" else "hsd"
                return qnn.emit("attention", list(inner.args), attributes)
        return value

    def _single(self, expression: Any, name: str) -> Any:
        """The defining call of an operand that nobody else reads."""
        call = self.definition(expression)
        alone = call is not None and self.uses(expression) == 1
        return call if alone and qnn.is_qnn(call, name) else None

    def _attention(self, value: Any) -> Any:
        outer = qnn.attributes(value)
        weights, v = value.args[:2]
        if outer["transpose_b"] or not _plain(outer) or _rule(outer) is None or spec_of(v).dtype != "int8":
            return None
        probability = None
        table = self._single(weights, "lookup")
        if table is not None:
            weights, probability = table.args[0], constant(table.args[1])
        softmax = self._single(weights, "softmax")
        if softmax is None or qnn.attributes(softmax)["form"] != "i_softmax":
            return None
        logits, mask = softmax.args[0], None
        total = self._single(logits, "add")
        if total is not None:
            found = self._masked(total)
            if found is None:
                return None
            logits, mask = found
        logit_table = None
        table = self._single(logits, "lookup")
        if table is not None:
            logits, logit_table = table.args[0], constant(table.args[1])
        inner = self._single(logits, "matmul")
        if inner is None:
            return None
        first = qnn.attributes(inner)
        q, k = inner.args[:2]
        if not first["transpose_b"] or not _plain(first) or _rule(first) is None:
            return None
        specs = [spec_of(t) for t in (q, k, v)]
        same = all(s.dtype == "int8" and len(s.shape) == 4 and s.shape[0] == 1 for s in specs)
        if not same or specs[1].shape != specs[2].shape or specs[0].shape[1] != specs[1].shape[1]:
            return None
        if probability is not None and probability.dtype != np.int8:
            return None
        attributes = {
            **{n: w for n, w in qnn.attributes(softmax).items() if n in ("a", "b", "c", "log2", "levels")},
            **qnn.Requant.of(outer).attributes(),
            **qnn.Requant.of(first).attributes("logit"),
            "has_mask": int(mask is not None),
            "has_logit_table": int(logit_table is not None),
            "has_probability": int(probability is not None),
            "y_layout": "hsd",
        }
        arguments = []
        for name, operand in (("q", q), ("k", k), ("v", v)):
            moved, layout = self._layout(operand)
            arguments.append(moved)
            attributes[f"{name}_layout"] = layout
        arguments += [mask] if mask is not None else []
        arguments += inner.args[2:]
        arguments += [relax.const(t) for t in (logit_table, probability) if t is not None]
        return qnn.emit("attention", [*arguments, *value.args[2:]], attributes)

    def _layout(self, operand: Any) -> tuple[Any, str]:
        """Read through a transpose of heads and positions."""
        call = self.definition(operand)
        if call is not None and qnn.is_qnn(call, "transpose") and qnn.attributes(call)["axes"] == _SWAP:
            return call.args[0], "shd"
        return operand, "hsd"

    def _masked(self, total: Any) -> Any:
        """Logits and int8 mask of a saturating sum."""
        attributes = qnn.attributes(total)
        rule = qnn.Requant.of(attributes)
        mul, add = (constant(t) for t in total.args[-2:])
        saturates = rule.kind == "pulp" and (rule.low, rule.high) == (-128, 127) and mul.size == 1
        keeps = saturates and mul.item() == 1 << rule.shift and add.item() == (1 << rule.shift) >> 1
        if attributes["form"] != "plain" or not keeps or attributes["requant_a"] != "none":
            return None
        logits, mask = total.args[:2]
        shape, mask_spec = spec_of(logits).shape, spec_of(mask)
        lead = mask_spec.shape[:-2]
        if mask_spec.shape[-1] != shape[-1] or any(d != 1 for d in lead) or spec_of(logits).dtype != "int8":
            return None
        inner = qnn.Requant.of(attributes, "requant_b")
        if inner.kind == "none":
            return (logits, mask) if mask_spec.dtype == "int8" else None
        constants = [constant(t) for t in total.args[2:4]]
        if mask_spec.dtype not in ("int8", "uint8") or any(c.size != 1 for c in constants) or inner.out_dtype != "int8":
            return None
        low, high = mask_spec.range
        table = inner.apply(np.arange(low, high + 1), constants)
        return logits, self.emit(qnn.emit("lookup", [mask, relax.const(table)], {}))


def _plain(attributes: dict[str, Any]) -> bool:
    return not attributes["zero_point_a"] and not attributes["zero_point_b"]


def _rule(attributes: dict[str, Any]) -> Any:
    """The requantization, if it is the PULP form to int8."""
    rule = qnn.Requant.of(attributes)
    return rule if rule.kind == "pulp" and rule.out_dtype == "int8" else None
