"""Attention of all heads in one operator: softmax(requantize(q . k) + mask) . v, requantized.

Operands: q, k, v[, mask], logit mul, logit add[, logit table][, probability table], mul, add. q is [1, heads, queries,
size] and k, v are [1, heads, keys, size]; with `*_layout` "shd" an operand, or the result, is [1, positions, heads,
size] instead, so that no transposed copy is needed. Per query and head:

    logit = requantize(q . k); logit = logit_table[logit]; logit = clip(logit + mask, -128, 127)
    weight = i_softmax(logits);  weight = probability_table[weight];  y = requantize(sum of weight * v)

Tables begin with the entry of the smallest value. Without a table a value stays as it is.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn import softmax_i
from tvm_pulp.qnn.operator import Arrays, Loops, Operator, Requant, Specs, TensorSpec, call, i32, register
from tvm_pulp.qnn.record import Requantized
from tvm_pulp.qnn.softmax_i import PolynomialAttributes
from tvm_pulp.quick_records import quick_record


@quick_record(kw_only=True, slots=False)
class AttentionAttributes(PolynomialAttributes, Requantized):
    """Which operands are there, and how they lie."""

    logit: Requant
    has_mask: bool = False
    has_logit_table: bool = False
    has_probability: bool = False
    q_layout: str = "hsd"
    k_layout: str = "hsd"
    v_layout: str = "hsd"
    y_layout: str = "hsd"


def operands(attributes: AttentionAttributes, values: Sequence[Any]) -> dict[str, Any]:
    names = ["q", "k", "v", *(["mask"] if attributes.has_mask else []), "logit_mul", "logit_add"]
    names += ["logit_table"] if attributes.has_logit_table else []
    names += ["probability"] if attributes.has_probability else []
    return dict(zip([*names, "mul", "add"], values, strict=True))


def dimensions(attributes: AttentionAttributes, q: TensorSpec, k: TensorSpec) -> tuple[int, int, int, int]:
    """heads, queries, keys, size."""
    heads, queries = (q.shape[1], q.shape[2]) if attributes.q_layout == "hsd" else (q.shape[2], q.shape[1])
    return heads, queries, k.shape[2] if attributes.k_layout == "hsd" else k.shape[1], q.shape[3]


def _heads_first(array: np.ndarray, layout: str) -> np.ndarray:
    return array if layout == "hsd" else array.transpose(0, 2, 1, 3)


@register(
    "attention",
    attributes=AttentionAttributes,
    operands="q k v",
)
class Attention(Operator[AttentionAttributes]):
    def infer(self, attributes: AttentionAttributes, inputs: Specs) -> TensorSpec:
        heads, queries, _, size = dimensions(attributes, inputs[0], inputs[1])
        shape = (1, heads, queries, size) if attributes.y_layout == "hsd" else (1, queries, heads, size)
        return TensorSpec(shape, Requant.of(attributes).out_dtype)

    def reference(self, attributes: AttentionAttributes, inputs: Arrays) -> np.ndarray:
        of = operands(attributes, inputs)
        q, k, v = (_heads_first(of[n].astype(np.int64), attributes[f"{n}_layout"]) for n in "qkv")
        logits = Requant.of(attributes, "logit").apply(q @ k.swapaxes(-1, -2), [of["logit_mul"], of["logit_add"]])
        if "logit_table" in of:
            logits = of["logit_table"][logits.astype(np.int64) + 128]
        if "mask" in of:
            logits = np.clip(logits.astype(np.int64) + of["mask"].astype(np.int64), -128, 127)
        weights = softmax_i.reference(attributes, logits.astype(np.int64))
        if "probability" in of:
            weights = of["probability"][weights]
        result = Requant.of(attributes).apply(weights.astype(np.int64) @ v, [of["mul"], of["add"]])
        return np.ascontiguousarray(_heads_first(result, attributes.y_layout))

    def body(self, loops: Loops, attributes: AttentionAttributes, inputs: Specs, output: TensorSpec) -> None:
        """Every pass over a row computes its logits again: plain C needs no scratch memory then."""
        specs = operands(attributes, inputs)
        of = {name: loops.buffer(name, spec) for name, spec in specs.items()}
        y = loops.buffer("y", output)
        heads, queries, keys, size = dimensions(attributes, specs["q"], specs["k"])
        a, b, c, log2, levels = attributes.a, attributes.b, attributes.c, attributes.log2, attributes.levels

        def at(name: str, head: Any, position: Any, i: Any) -> Any:
            first, second = (head, position) if attributes[f"{name}_layout"] == "hsd" else (position, head)
            return i32(of[name][0, first, second, i])

        def logit(head: Any, query: Any, key: Any) -> Any:
            acc = loops.sum("dot", "i", size, lambda i: at("q", head, query, i) * at("k", head, key, i))
            rule = Requant.of(attributes, "logit")
            value = i32(rule.expression(acc.value, [of["logit_mul"], of["logit_add"]], i32(0)))
            if "logit_table" in of:
                value = i32(of["logit_table"][value + 128])
            if "mask" in of:
                index = [i32(0)] * (len(specs["mask"].shape) - 1)
                if len(index) and specs["mask"].shape[-2] > 1:
                    index[-1] = query
                value = call("clip", value + i32(of["mask"][(*index, key)]), -128, 127)
            return loops.bind("logit", value)

        with loops.parallel("row", heads * queries) as row:
            head, query = loops.split(row, queries, "head", "query")
            best = loops.scalar("best", -128)
            with loops.loop("key", keys) as key:
                best.set(tirx.max(best.value, logit(head, query, key)))
            total = loops.sum(
                "total", "key", keys, lambda key: call("i_exp", logit(head, query, key) - best.value, a, b, c, log2)
            )
            with loops.loop("j", size) as j:
                acc = loops.scalar("acc", 0)
                with loops.loop("key", keys) as key:
                    exponential = call("i_exp", logit(head, query, key) - best.value, a, b, c, log2)
                    weight = tirx.truncdiv(exponential * (levels - 1), total.value)
                    weight = i32(of["probability"][weight]) if "probability" in of else weight
                    acc.set(acc.value + weight * at("v", head, key, j))
                place = [i32(0), *((head, query) if attributes.y_layout == "hsd" else (query, head)), j]
                value = Requant.of(attributes).expression(acc.value, [of["mul"], of["add"]], i32(0))
                loops.store(y, place, value)

    def macs(self, attributes: AttentionAttributes, inputs: Specs, output: TensorSpec) -> int:
        heads, queries, keys, size = dimensions(attributes, inputs[0], inputs[1])
        return 2 * heads * queries * keys * size
