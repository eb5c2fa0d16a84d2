"""Pass: the chain of small operators that spells attention becomes one operator.

Expects canonical form with transposes folded and functions of bytes as tables. Matches, where nothing in between has
another reader:

    matmul(q, k, transpose_b) -> [lookup] -> [add mask] -> softmax(i_softmax) -> [lookup] -> matmul(., v) -> [transpose]

and takes transposes of heads and positions on q, k, v and the result into the operator's layouts.
"""

from typing import Any

import numpy as np

from tvm_pulp import qnn
from tvm_pulp.canonicalize.fuse_heads import FuseHeads
from tvm_pulp.canonicalize.permute import is_swap
from tvm_pulp.canonicalize.rewriter import constant, needed, require, spec_of


class FuseAttention(FuseHeads):
    operator = "attention"

    def attention(self, value: Any) -> Any:
        v = value.args[1]
        require(spec_of(v).dtype == "int8")
        outer = _product(value, transpose_b=0)
        weights, probability = self._looked_up(value.args[0])
        softmax = needed(self.single(weights, "softmax"))
        require(qnn.attributes(softmax)["form"] == "i_softmax")
        total = self.single(softmax.args[0], "add")
        logits, mask = (softmax.args[0], None) if total is None else self._masked(total)
        logits, logit_table = self._looked_up(logits)
        inner = needed(self.single(logits, "matmul"))
        first = _product(inner, transpose_b=1)
        q, k = inner.args[:2]
        specs = [spec_of(t) for t in (q, k, v)]
        require(all(s.dtype == "int8" and len(s.shape) == 4 and s.shape[0] == 1 for s in specs))
        require(specs[1].shape == specs[2].shape and specs[0].shape[1] == specs[1].shape[1])
        require(probability is None or probability.dtype == np.int8)
        attributes = {
            **{n: w for n, w in qnn.attributes(softmax).items() if n in ("a", "b", "c", "log2", "levels")},
            **outer.attributes(),
            **first.attributes("logit"),
            "has_mask": int(mask is not None),
            "has_logit_table": int(logit_table is not None),
            "has_probability": int(probability is not None),
            "y_layout": "hsd",
        }
        arguments = []
        for name, operand in (("q", q), ("k", k), ("v", v)):
            # Read through a transpose of heads and positions.
            call = self.definition(operand)
            arguments.append(call.args[0] if is_swap(call) else operand)
            attributes[f"{name}_layout"] = "shd" if is_swap(call) else "hsd"
        tables = [t for t in (logit_table, probability) if t is not None]
        arguments += [*([] if mask is None else [mask]), *inner.args[2:], *tables, *value.args[2:]]
        return qnn.emit("attention", arguments, attributes)

    def _looked_up(self, expression: Any) -> tuple[Any, np.ndarray | None]:
        """The operand and the table of a lookup that nobody else reads; the expression itself where there is none."""
        table = self.single(expression, "lookup")
        return (expression, None) if table is None else (table.args[0], constant(table.args[1]))

    def _masked(self, total: Any) -> tuple[Any, Any]:
        """Logits and int8 mask of a saturating sum."""
        attributes = qnn.attributes(total)
        rule = qnn.Requant.of(attributes)
        mul, add = (constant(t) for t in total.args[-2:])
        require(attributes["form"] == "plain" and attributes["requant_a"] == "none")
        require(rule.kind == "pulp" and (rule.low, rule.high) == (-128, 127) and mul.size == 1)
        require(mul.item() == 1 << rule.shift and add.item() == (1 << rule.shift) >> 1)
        logits, mask = total.args[:2]
        spec, mask_spec = spec_of(logits), spec_of(mask)
        require(mask_spec.shape[-1] == spec.shape[-1] and spec.dtype == "int8")
        require(all(d == 1 for d in mask_spec.shape[:-2]))
        inner = qnn.Requant.of(attributes, "requant_b")
        if inner.kind == "none":
            require(mask_spec.dtype == "int8")
            return logits, mask
        constants = [constant(t) for t in total.args[2:4]]
        require(mask_spec.dtype in qnn.BYTES and all(c.size == 1 for c in constants) and inner.out_dtype == "int8")
        table = inner.apply(qnn.every_value(mask_spec.dtype), constants)
        return logits, self.emit(qnn.emit("lookup", [mask, table], {}))


def _product(call: Any, transpose_b: int) -> qnn.Requant:
    """The requantization of a product without zero points, which must be of the PULP form, to int8."""
    attributes = qnn.attributes(call)
    rule = qnn.Requant.of(attributes)
    require(attributes["transpose_b"] == transpose_b and rule.kind == "pulp" and rule.out_dtype == "int8")
    require(not attributes["zero_point_a"] and not attributes["zero_point_b"])
    return rule
